// SPDX-License-Identifier: Apache-2.0
// Decides which nodes train together: the rules of an elastic group, without sockets.
//
// Ranks start when the first `min_nodes` nodes have come and no other one for `settle`, or when
// there are `max_nodes`. Nodes are numbered in the order in which they came, so that rank 0 stays
// where it is as long as its node does. Nodes above `max_nodes` wait for a place.
//
// All ranks stop, and start again with other numbers once all have ended,
//   - orderly, so that they save first: when a node has come and there is a place for it, or when
//     one is asked to end;
//   - at once: when a node is lost, or when a rank fails. A failure has a back-off that doubles,
//     and the one after `max_restarts` in a row ends the group. Ranks that work for
//     `settled_after` make it forget them.
// When the ranks of a node end with 0 without having been told to, the work is done.
//
// Each start has an epoch that is larger than every one that a node has told of. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "rl/collectives/node_message.h"
#include "rl/collectives/restarts.h"

namespace shoal::collectives {

struct NodeGroupOptions {
  std::int64_t min_nodes = 1;
  std::int64_t max_nodes = 1;
  runtime::Duration settle = std::chrono::seconds(2);
  std::int64_t max_restarts = 3;
  runtime::Duration min_back_off = std::chrono::milliseconds(500);
  runtime::Duration max_back_off = std::chrono::seconds(30);
  runtime::Duration settled_after = std::chrono::seconds(60);
  // How long ranks that were told to may take to end, in order and at once: what their supervisors
  // give them, and the time of a kill.
  runtime::Duration orderly_limit = std::chrono::seconds(70);
  runtime::Duration stop_limit = std::chrono::seconds(15);
};

// The limit on max_nodes, and how many nodes may wait for a place.
inline constexpr std::int64_t kMaxNodes = 1024;
inline constexpr std::int64_t kMaxWaitingNodes = 64;

class NodeGroup {
 public:
  // A number that the caller gives to a node, and to no other one.
  using NodeId = std::uint64_t;
  using Order = std::pair<NodeId, NodeMessage>;

  // `clock` outlives this.
  NodeGroup(const NodeGroupOptions& options, runtime::Clock& clock);

  // A node came from `address`. ALREADY_EXISTS when another one has its name, RESOURCE_EXHAUSTED
  // when too many wait for a place, INVALID_ARGUMENT for an epoch more than a day ahead of the
  // clock.
  absl::Status Join(NodeId id, const NodeJoins& node, const std::string& address);
  // What a node that has joined tells. Messages that do not fit what it was told are ignored.
  void Ended(NodeId id, const RanksEnded& ended);
  void Leave(NodeId id, const NodeLeaves& leave);
  // The connection to a node has ended. It may never have joined.
  void Gone(NodeId id);

  // Does what has become due. Call it after the others and at NextLook.
  void Look();
  // When something will be due if nothing else comes before.
  std::optional<runtime::TimePoint> NextLook() const;
  // The nodes whose ranks should have ended by now, as where a process cannot be killed. The caller
  // gives them up: it closes their connections and calls Gone.
  std::vector<NodeId> Overdue() const;
  // Returns what nodes are to be told, in order, and forgets it.
  std::vector<Order> TakeOrders() { return std::exchange(orders_, {}); }

  // Whether the work is done or given up. Nodes that join then are told so.
  bool finished() const { return phase_ == Phase::kFinished; }

 private:
  enum class Phase { kGathering, kRunning, kStopping, kFinished };
  struct Node {
    NodeId id = 0;
    NodeJoins what;
    std::string address;
    // Whether it has ranks.
    bool runs = false;
    // Whether it gets no ranks any more.
    bool leaves = false;
  };

  std::vector<Node>::iterator Find(NodeId id);
  void Stop(ChangeCause cause, bool orderly);
  // All ranks have ended.
  void Conclude();
  // Gives up after a failure, or says when the next ranks may start.
  void BackOff();
  void Start();
  void Finish(int exit_code);
  void Tell(NodeId id, NodeMessage message) { orders_.emplace_back(id, std::move(message)); }
  bool AnyRuns() const;
  // How many nodes have ranks, or could have.
  std::int64_t Places(bool running) const;

  const NodeGroupOptions options_;
  runtime::Clock& clock_;
  Phase phase_ = Phase::kGathering;
  // In the order in which they came.
  std::vector<Node> nodes_;
  std::vector<Order> orders_;
  std::uint64_t epoch_ = 0;
  // While the ranks stop: why, whether in order, and how long they may take. Then why they start.
  ChangeCause cause_ = ChangeCause::kFormed;
  bool orderly_ = true;
  runtime::TimePoint end_by_ = {};
  // Before it no ranks stop for a newcomer, and none start unless max_nodes are ready and no rank
  // has failed.
  runtime::TimePoint settled_at_ = {};
  runtime::TimePoint started_at_ = {};
  Restarts restarts_;
  int exit_code_ = 0;
};

}  // namespace shoal::collectives
