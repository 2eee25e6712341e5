// SPDX-License-Identifier: Apache-2.0
// Starting the ranks of one node, and knowing which one we are.
//
//   SHOAL_ASSIGN_OR_RETURN(std::optional<int> exit_code, LaunchRanks(WorldSizeFlag(argc, argv)));
//   if (exit_code) return *exit_code;     // the parent, after all ranks ended
//   ...                                   // a rank
//   auto reducer = JoinGroup();
//
// Variables as torchrun names them: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::collectives {

struct RankEnvironment {
  std::int64_t rank = 0;
  std::int64_t world_size = 1;
  std::int64_t local_rank = 0;
  std::string master_address = "127.0.0.1";
  std::uint16_t master_port = 0;
  // Listening socket that the launcher bound for rank 0; -1: rank 0 binds master_port itself.
  int master_listener = -1;
};

// A group of one when RANK is not set; INVALID_ARGUMENT naming the variable that makes no sense.
absl::StatusOr<RankEnvironment> ReadRankEnvironment();

// On one node.
inline constexpr std::int64_t kMaxLocalRanks = 64;

// What "--world-size N" or "--world-size=N" among the arguments says, 1 without: ranks are forked
// before anything else, so this flag is read ahead of all others. 0 for what is no number.
std::int64_t WorldSizeFlag(int argc, const char* const* argv);

// INVALID_ARGUMENT for a number that is not from 1 to kMaxLocalRanks; else
// forks `world_size` ranks of this process; call while it has one thread, before any use of torch
// or gRPC. Nothing is forked for 1, or when RANK is set already (a rank of a larger group).
// Nullopt: go on as the rank that the environment now describes. A number, in the parent: all ranks
// ended, exit with it.
//
// The parent passes SIGTERM and SIGINT on. When a rank fails, the others get SIGTERM, SIGKILL five
// seconds later, and its exit code (128 + signal) is the result. Ranks die with their parent.
absl::StatusOr<std::optional<int>> LaunchRanks(std::int64_t world_size);

}  // namespace shoal::collectives
