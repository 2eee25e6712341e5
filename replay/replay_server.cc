// SPDX-License-Identifier: Apache-2.0
#include "replay/replay_server.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/log.h"
#include "platform/runtime/metrics.h"
#include "platform/transport/server.h"
#include "replay/durability/disk_journal.h"
#include "replay/service.h"
#include "replay/shard.h"
#include "replay/table_settings.h"

namespace shoal::replay {
namespace {

// Returns null where nothing is kept on disk.
absl::StatusOr<std::unique_ptr<Journal>> OpenJournal(const ReplayConfig& config) {
  SHOAL_ASSIGN_OR_RETURN(const std::string directory, config.options.ShardDirectory(config.index));
  if (directory.empty()) return std::unique_ptr<Journal>();
  SHOAL_ASSIGN_OR_RETURN(
      std::unique_ptr<Journal> journal,
      durability::DiskJournal::Create({.directory = directory,
                                       .checkpoints = config.options.directory + "/checkpoints",
                                       .restore = config.options.restore,
                                       .journals = config.in_process}));
  return journal;
}

}  // namespace

// The members are in order of creation; each may refer to those above it.
struct ReplayServer::Parts {
  explicit Parts(const ReplayConfig& given) : config(given) {}

  absl::Status Start();

  const ReplayConfig config;
  runtime::Metrics metrics;
  std::unique_ptr<Shard> shard;
  std::optional<TableSettings> settings;
  std::optional<Service> service;
  std::unique_ptr<transport::Server> server;
};

absl::Status ReplayServer::Parts::Start() {
  Options options = config.options;
  // In lock step rounds keep inserts and samples in proportion, and a limiter that held back an
  // insert would hold back its round.
  for (TableKnobs& table : options.tables) {
    if (config.run.deterministic) table.samples_per_insert = 0;
  }
  const std::vector<std::string>& shards = config.shards.addresses();
  SHOAL_ASSIGN_OR_RETURN(const std::string listen, ListenAddress(options, shards, config.index));
  SHOAL_RETURN_IF_ERROR(metrics.Expose(options.metrics_listen));
  const ShardPlace place = {.index = static_cast<std::uint64_t>(config.index),
                            .shards = shards.size(),
                            .seed = static_cast<std::uint64_t>(config.run.seed)};
  SHOAL_ASSIGN_OR_RETURN(const auto shard_options, options.ForShard(place));
  SHOAL_ASSIGN_OR_RETURN(auto journal, OpenJournal(config));
  SHOAL_ASSIGN_OR_RETURN(shard,
                         Shard::Create(shard_options, runtime::SystemClock(), std::move(journal)));
  settings.emplace(options.tables, place, *shard, config.shards);
  service.emplace(
      InsertStreamOptions{.max_item_bytes = static_cast<std::size_t>(options.max_item_bytes),
                          .credit = static_cast<std::size_t>(options.insert_credit)},
      *shard, *settings, metrics);
  SHOAL_ASSIGN_OR_RETURN(server, transport::Server::Create({.listen = listen}, {&*service}));
  spdlog::info("event=listening address={}", server->address());
  server->SetServing(true);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ReplayServer>> ReplayServer::Create(const ReplayConfig& config) {
  auto parts = std::make_unique<Parts>(config);
  SHOAL_RETURN_IF_ERROR(parts->Start());
  return std::unique_ptr<ReplayServer>(new ReplayServer(std::move(parts)));
}

ReplayServer::ReplayServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

ReplayServer::~ReplayServer() = default;

const std::string& ReplayServer::address() const { return parts_->server->address(); }

std::shared_ptr<grpc::Channel> ReplayServer::InProcessChannel() const {
  return parts_->server->InProcessChannel();
}

bool ReplayServer::Drain() {
  parts_->server->SetServing(false);
  const bool drained =
      parts_->service->Drain(std::chrono::milliseconds(parts_->config.options.drain_ms));
  parts_->server->Shutdown(std::chrono::milliseconds(0));
  return drained;
}

}  // namespace shoal::replay
