// SPDX-License-Identifier: Apache-2.0
// Keeps the ranks of one node of an elastic group running: nodes come and go, and all ranks are
// started again with other numbers each time.
//
// Each node has such a supervisor. It looks for a service (node_service.h) at the addresses that
// all of them know. If none answers, it serves itself where it can bind one, in a process that dies
// with it. The service says when this node's ranks start, as which ranks, and when they stop. If
// the service is lost, the ranks stop too, and the supervisors find or make another one: a group
// outlives the node that served it if one of the others can bind an address of the list.
//
// This ends
//   - after SIGTERM or SIGINT. The service hears of it first, so that the ranks of all nodes finish
//     their step and save; then those of the others go on without this node;
//   - when a rank ended with an exit code for which runtime::IsFinalExit holds. The others go on;
//   - when the work is done on any node, or failures in a row are more than the service allows;
//   - when no service answers or lets it in for NodesOptions::patience.
//
// Not thread-safe: the process has one thread, no torch and no gRPC.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "rl/collectives/node_link.h"
#include "rl/collectives/node_message.h"
#include "rl/collectives/node_service.h"
#include "rl/collectives/rank_group.h"
#include "rl/collectives/rank_progress.h"
#include "rl/collectives/rank_supervisor.h"

namespace shoal::collectives {

struct NodeAddress {
  std::string host;
  std::uint16_t port = 0;
};

struct NodesOptions {
  // The bounds on the number of nodes. Those of the supervisor that serves hold.
  std::int64_t min_nodes = 1;
  std::int64_t max_nodes = 1;
  // Where the service is, in the order of preference. The same on all nodes.
  std::vector<NodeAddress> rendezvous = {};
  // What this node is called. No two nodes have the same name.
  std::string name = {};
  NodeTiming timing = {};
  // How long this waits for others before it starts with fewer than max_nodes.
  runtime::Duration settle = std::chrono::seconds(2);
  // How long it looks for a service that lets it in.
  runtime::Duration patience = std::chrono::seconds(60);
  // It serves at the second address after this time without a service, at the third after twice as
  // long, and so on.
  runtime::Duration precedence = std::chrono::seconds(3);
  // The time that ranks get which stop in order.
  runtime::Duration orderly_grace = std::chrono::seconds(60);
};

// Reads "MIN:MAX" or "N", "HOST:PORT[,HOST:PORT...]" and a name, or the machine's if it is empty.
// INVALID_ARGUMENT names the flag.
absl::StatusOr<NodesOptions> ParseNodes(const std::string& nodes, const std::string& rendezvous,
                                        const std::string& name);

class NodeSupervisor final : private GroupOrders {
 public:
  // `program` is the name in the log. max_restarts, back-offs and settled_after of `supervision`
  // hold for the group if this node serves it.
  NodeSupervisor(std::string program, std::int64_t local_ranks, const NodesOptions& nodes,
                 const SupervisionOptions& supervision);
  // Ends the service, if this process has forked one.
  ~NodeSupervisor();

  // Returns nothing in each rank, which goes on as that rank. In the supervisor it returns the exit
  // code: 0 when the work is done, SupervisionOptions::stop_code or a rank's after a signal,
  // otherwise that of the failure which ended this node or the group. UNAVAILABLE when no service
  // was found in time, FAILED_PRECONDITION when none let this node in, RESOURCE_EXHAUSTED when the
  // system refuses memory or a process. No rank is left then.
  absl::StatusOr<std::optional<int>> Run();

  // In a rank: where it reports its calls.
  RankProgress* progress() const { return own_progress_; }
  // This node's failures so far, by ToString of their cause.
  const std::map<std::string, std::int64_t>& failures() const { return failures_; }
  // How often this node's ranks were started again, by ToString(ChangeCause), or "rendezvous" where
  // the service was lost.
  const std::map<std::string, std::int64_t>& changes() const { return changes_; }

 private:
  // How the time with one service ended.
  struct Turn {
    bool is_rank = false;
    // The supervisor ends with this. Without it, and in no rank, the service was lost.
    std::optional<int> exit_code = {};
  };

  int descriptor() const override;
  std::optional<runtime::Duration> Look(bool asked_to_end) override;

  absl::StatusOr<std::optional<int>> RunTurns(const sigset_t& mask);
  absl::StatusOr<Turn> RunTurn(const sigset_t& mask);
  // Connects to a service. Returns false after a signal.
  absl::StatusOr<bool> FindService();
  // Connects to a service that answers. `own` is the listening socket of this process at the
  // address of that number, which does not count, or -1.
  bool LookForService(int own = -1, std::size_t own_address = 0);
  // Serves where it can. Returns false where it cannot, or has found a service after all.
  absl::StatusOr<bool> TryToServe(runtime::Duration looked);
  absl::Status ForkService(int listener);
  void EndService(bool at_once);
  // Listens for other ranks at this node's address, and returns the port, which is 0 when that
  // showed that the service is lost.
  absl::StatusOr<std::uint16_t> OpenRankListener();
  void CloseRankListener();
  // Waits for a word of the service. Returns whether a signal came.
  bool Await();
  absl::StatusOr<Turn> RunRanks(const sigset_t& mask, const StartRanks& start);
  // Sends what is due and takes what has come.
  void Exchange();
  absl::Status Take(const NodeMessage& message);
  void Tell(const NodeMessage& message);
  void LoseService(const absl::Status& reason);

  const std::string program_;
  const std::int64_t local_ranks_;
  const NodesOptions nodes_;
  const SupervisionOptions supervision_;
  runtime::Clock& clock_;

  // One for each rank.
  RankProgress* progress_ = nullptr;
  RankProgress* own_progress_ = nullptr;
  std::map<std::string, std::int64_t> failures_;
  std::map<std::string, std::int64_t> changes_;
  std::uint64_t epoch_ = 0;
  int rank_listener_ = -1;
  // 0 unless this process serves.
  pid_t service_ = 0;
  runtime::TimePoint patient_until_ = {};

  // Null while there is no service.
  std::unique_ptr<NodeLink> link_;
  runtime::TimePoint heard_at_ = {};
  runtime::TimePoint told_at_ = {};
  // What the service has said, until it is done.
  std::optional<StartRanks> start_;
  std::optional<StopRanks> stop_;
  std::optional<int> finish_;
  std::optional<std::string> refusal_;
  // When this node told that it leaves.
  std::optional<runtime::TimePoint> left_at_;
};

}  // namespace shoal::collectives
