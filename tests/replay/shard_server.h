// SPDX-License-Identifier: Apache-2.0
// A shard on a loopback port, for tests. Without a journal its contents are lost with it.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/metrics.h"
#include "platform/transport/server.h"
#include "replay/service.h"
#include "replay/shard.h"
#include "replay/table_settings.h"

namespace shoal::replay {

class ShardServer {
 public:
  explicit ShardServer(TableOptions table = {}, InsertStreamOptions insert = {},
                       const std::string& listen = "127.0.0.1:0",
                       const ContentStoreOptions& contents = {},
                       std::unique_ptr<Journal> journal = nullptr) {
    auto shard = Shard::Create({.tables = {std::move(table)}, .contents = contents},
                               runtime::SystemClock(), std::move(journal));
    REQUIRE(shard.ok());
    shard_ = *std::move(shard);
    settings_ = std::make_unique<TableSettings>(std::vector<TableKnobs>(1), ShardPlace{}, *shard_);
    service_ = std::make_unique<Service>(insert, *shard_, *settings_, metrics_);
    auto server = transport::Server::Create({.listen = listen}, {service_.get()});
    REQUIRE(server.ok());
    server_ = *std::move(server);
    server_->SetServing(true);
  }
  ~ShardServer() { server_->Shutdown(std::chrono::milliseconds(0)); }

  bool Drain() { return service_->Drain(std::chrono::seconds(5)); }
  const std::string& address() const { return server_->address(); }
  const transport::Server& server() const { return *server_; }
  Shard& shard() { return *shard_; }

 private:
  runtime::Metrics metrics_;
  std::unique_ptr<Shard> shard_;
  // Of a table with the defaults.
  std::unique_ptr<TableSettings> settings_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<transport::Server> server_;
};

}  // namespace shoal::replay
