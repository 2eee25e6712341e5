// SPDX-License-Identifier: Apache-2.0
// Starts the ranks of one node, and tells a process which rank it is.
//
//   SHOAL_ASSIGN_OR_RETURN(const Launched launched, LaunchRanks(LaunchFlags("learner", argc,
//   argv))); if (launched.exit_code) return *launched.exit_code;     // the supervisor, at its end
//   ...                                                     // a rank
//   auto reducer = JoinGroup({.progress = launched.progress});
//
// The environment variables have torchrun's names: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR,
// MASTER_PORT; and GROUP_RANK, the number of a node among those of the group. Ranks of several
// nodes that a job controller starts again at the same address should also have SHOAL_GROUP_EPOCH:
// the same number on all ranks, and a larger one after each restart. torchrun's
// TORCHELASTIC_RESTART_COUNT is no such number, since each node counts for itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "platform/runtime/status.h"
#include "rl/collectives/rank_progress.h"
#include "rl/collectives/rank_supervisor.h"

namespace shoal::collectives {

struct RankEnvironment {
  std::int64_t rank = 0;
  std::int64_t world_size = 1;
  std::int64_t local_rank = 0;
  std::string master_address = "127.0.0.1";
  std::uint16_t master_port = 0;
  // Grows with each start of the group. Ranks of different epochs do not join each other.
  std::uint64_t epoch = 0;
  // The listening socket that the launcher bound for rank 0, or -1 when rank 0 binds master_port.
  int master_listener = -1;
};

// Returns a group of one when RANK is not set; INVALID_ARGUMENT names a variable with a bad value.
absl::StatusOr<RankEnvironment> ReadRankEnvironment();

// Sets the variables of this process so that ReadRankEnvironment returns `environment`.
void WriteRankEnvironment(const RankEnvironment& environment);

// The limits on the ranks of one node, and on those of a group.
inline constexpr std::int64_t kMaxLocalRanks = 64;
inline constexpr std::int64_t kMaxRanks = 65536;

struct LaunchOptions {
  // The name of the program in the supervisor's log.
  std::string program;
  // The ranks of this node.
  std::int64_t local_ranks = 1;
  SupervisionOptions supervision = {};
  // "MIN:MAX" or "N" nodes, which come and go, and "HOST:PORT[,HOST:PORT...]" where they meet
  // (node_supervisor.h). Without the first, the group has as many ranks as at its start. The name
  // of this node is by default the machine's.
  std::string nodes = {};
  std::string rendezvous = {};
  std::string node_name = {};
};

// Returns what "--world-size N", "--max-restarts N", "--stop-code N", "--nodes MIN:MAX",
// "--rendezvous HOST:PORT" and "--node-name NAME" among the arguments say; "--flag=N" is the same.
// A value that is not a number reads as 0. They are read ahead of all other flags, since ranks are
// forked before anything else happens; the program declares them again and refuses bad values.
LaunchOptions LaunchFlags(std::string program, int argc, const char* const* argv);

struct Launched {
  // Set in the process that supervised the ranks, after their end: it exits with this code.
  std::optional<int> exit_code;
  // In a rank that was launched: where it reports its calls (GroupOptions::progress).
  RankProgress* progress = nullptr;
  // In a rank that was launched: how often its group has failed before, by cause (rank_group.h).
  std::map<std::string, std::int64_t> failures = {};
  // In a rank of nodes that come and go: how often its node's ranks were started again, by cause
  // (NodeSupervisor::changes).
  std::map<std::string, std::int64_t> changes = {};
};

// Forks the ranks of this node and supervises them (rank_supervisor.h). It returns in each rank,
// and in the supervisor at the end. Call it while the process has one thread, before any use of
// torch or gRPC. It forks nothing for one rank, or when RANK is already set (the process is a rank
// of a larger group, which somebody else supervises).
//
// With `nodes` the supervisor is a NodeSupervisor, also of one rank.
//
// Without GROUP_RANK these ranks are the whole group. With it, the group is WORLD_SIZE ranks on
// nodes of `local_ranks` each, and this node has those from GROUP_RANK * `local_ranks` on; rank 0
// listens on MASTER_ADDR and MASTER_PORT, where the others look for it. A node whose ranks failed
// then ends, and no rank is started again here: whoever starts the nodes has to start all of them.
//
// Returns INVALID_ARGUMENT when `local_ranks` is not from 1 to kMaxLocalRanks or max_restarts is
// negative, and names a flag that cannot be read and a variable that is missing or does not fit the
// others; also the errors of RankSupervisor::Run and NodeSupervisor::Run.
absl::StatusOr<Launched> LaunchRanks(const LaunchOptions& options);

}  // namespace shoal::collectives
