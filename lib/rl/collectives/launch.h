// SPDX-License-Identifier: Apache-2.0
// Starts the ranks of one node, and tells a process which rank it is.
//
//   SHOAL_ASSIGN_OR_RETURN(std::optional<int> exit_code, LaunchRanks(WorldSizeFlag(argc, argv)));
//   if (exit_code) return *exit_code;     // the parent, after all ranks ended
//   ...                                   // a rank
//   auto reducer = JoinGroup();
//
// The environment variables have torchrun's names: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR,
// MASTER_PORT.
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
  // The listening socket that the launcher bound for rank 0, or -1 when rank 0 binds master_port.
  int master_listener = -1;
};

// Returns a group of one when RANK is not set; INVALID_ARGUMENT names a variable with a bad value.
absl::StatusOr<RankEnvironment> ReadRankEnvironment();

// The limit on the ranks of one node.
inline constexpr std::int64_t kMaxLocalRanks = 64;

// Returns N of "--world-size N" or "--world-size=N" among the arguments, 1 without the flag, 0 when
// the value is not a number. It is read ahead of all other flags, since ranks are forked before
// anything else happens.
std::int64_t WorldSizeFlag(int argc, const char* const* argv);

// Forks `world_size` ranks of this process. Call it while the process has one thread, before any
// use of torch or gRPC. Nothing is forked for 1, or when RANK is already set (the process is a rank
// of a larger group). A result of nullopt means: go on as the rank that the environment now
// describes. A number is returned in the parent after all ranks ended: exit with it. Returns
// INVALID_ARGUMENT when `world_size` is not from 1 to kMaxLocalRanks.
//
// The parent forwards SIGTERM and SIGINT. When a rank fails, the others get SIGTERM, then SIGKILL
// five seconds later; the result is the failed rank's exit code (128 + signal for a signal). Ranks
// die with their parent.
absl::StatusOr<std::optional<int>> LaunchRanks(std::int64_t world_size);

}  // namespace shoal::collectives
