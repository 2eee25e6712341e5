// SPDX-License-Identifier: Apache-2.0
// The two sections that every process reads: where the others are, and what run this is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/config.h"

namespace shoal::runtime {

// [cluster]. An address is "host:port". `shoal` fills in what is empty for a local cluster.
struct ClusterOptions {
  // One per inference server; an actor picks by rendezvous hashing of its environment block.
  std::vector<std::string> inference = {};
  // One per replay shard.
  std::vector<std::string> replay = {};
  // Where learner rank 0 publishes parameters.
  std::string learner = "";
  // HTTP front of the mock server.
  std::string mockserver = "";
  // Control API of the mock server.
  std::string mockserver_control = "";
  // Processes of each kind that `shoal` starts.
  std::int64_t actors = 1;
  std::int64_t inference_servers = 1;
  std::int64_t replay_shards = 1;
  // Learner ranks on this node.
  std::int64_t learner_ranks = 1;

  void Visit(Visitor& visitor);
};

// [run].
struct RunOptions {
  std::string name = "run";
  // Everything a run writes is below <directory>/<name>/.
  std::string directory = "runs";
  std::int64_t seed = 1;
  // Same seed, same bits: one inference server, rounds in lock step, one thread for torch.
  bool deterministic = false;
  std::string log_level = "info";

  // <directory>/<name>.
  std::string path() const { return directory + "/" + name; }
  void Visit(Visitor& visitor);
};

}  // namespace shoal::runtime
