// SPDX-License-Identifier: Apache-2.0
// The two configuration sections that every process reads: the addresses of the other processes,
// and the run that this process belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/config.h"

namespace shoal::runtime {

// Section [cluster]. An address is "host:port", or "unix:PATH" for gRPC on one machine. `shoal`
// fills in the empty addresses of a local cluster.
struct ClusterOptions {
  // One address for each inference server. An actor picks one by rendezvous hashing of its
  // environment block.
  std::vector<std::string> inference = {};
  // A file that names the inference servers in place of `inference` and may change while actors
  // run.
  std::string inference_file = "";
  // One address for each replay shard.
  std::vector<std::string> replay = {};
  // A file that names the replay shards in place of `replay` and may change while processes run.
  std::string replay_file = "";
  // The address where learner rank 0 publishes parameters.
  std::string learner = "";
  // The address of the mock server's HTTP front.
  std::string mockserver = "";
  // The address of the mock server's control API.
  std::string mockserver_control = "";
  // The number of processes of each kind that `shoal` starts.
  std::int64_t actors = 1;
  std::int64_t inference_servers = 1;
  std::int64_t replay_shards = 1;
  // The number of learner ranks on this node.
  std::int64_t learner_ranks = 1;
  // How often in a row their supervisor starts several ranks again after one has failed.
  std::int64_t learner_max_restarts = 3;

  void Visit(Visitor& visitor);
};

// Section [run].
struct RunOptions {
  std::string name = "run";
  // All files of a run are written below <directory>/<name>/.
  std::string directory = "runs";
  std::int64_t seed = 1;
  // The same seed gives the same bits: there is one inference server, rounds go in lock step, and
  // torch uses one thread.
  bool deterministic = false;
  std::string log_level = "info";

  // Returns <directory>/<name>.
  std::string path() const { return directory + "/" + name; }
  void Visit(Visitor& visitor);
};

}  // namespace shoal::runtime
