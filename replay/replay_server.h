// SPDX-License-Identifier: Apache-2.0
// The replay process without its main: one shard, what it keeps on disk, and the server that other
// processes reach it by. It creates all parts in order and drains them in order.
//
// Create, Drain and the destructor are for one thread; the server answers on threads of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"
#include "platform/transport/address_list.h"
#include "platform/transport/connector.h"
#include "replay/options.h"

namespace shoal::replay {

struct ReplayConfig {
  Options options;
  runtime::RunOptions run;
  // All shards of the cluster.
  transport::AddressList shards;
  // The index of this shard among them, from 0.
  std::int64_t index = 0;
  // The number of shards in this process.
  std::size_t in_process = 1;
};

class ReplayServer {
 public:
  // Restores what a durable table had, then serves. INVALID_ARGUMENT and FAILED_PRECONDITION name
  // the knob, file or address.
  static absl::StatusOr<std::unique_ptr<ReplayServer>> Create(const ReplayConfig& config);
  // Ends the streams without grace if Drain was not called.
  ~ReplayServer();
  ReplayServer(const ReplayServer&) = delete;
  ReplayServer& operator=(const ReplayServer&) = delete;

  // Returns "host:port" with the port that is bound, or "unix:PATH".
  const std::string& address() const;

  // Returns a channel for clients in this process, which must end before Drain
  // (transport::Server::InProcessChannel).
  std::shared_ptr<grpc::Channel> InProcessChannel() const;

  // Sets health to NOT_SERVING, gives the streams replay.drain_ms to end, and ends the server.
  // Returns whether all streams ended by themselves. Call it once.
  bool Drain();

 private:
  struct Parts;
  explicit ReplayServer(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace shoal::replay
