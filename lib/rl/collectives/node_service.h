// SPDX-License-Identifier: Apache-2.0
// The service through which the nodes of an elastic group find each other: the rules of NodeGroup
// behind a listening socket.
//
// Each node holds one connection, and its end is the end of the node. A peer is dropped that sends
// something else than messages of nodes, does not join within `introduction`, is silent for
// `silence`, whose ranks do not end in time (NodeGroup::Overdue), or that does not read. Past a
// bound on connections new ones are closed at once. While the system has no descriptor for another
// one, those that there are go on. Peers are not authenticated: whoever reaches the port can join.
//
// Not thread-safe. It has no thread and needs no torch: a node's supervisor runs it in a process
// that it forks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "rl/collectives/node_group.h"
#include "rl/collectives/node_link.h"

namespace shoal::collectives {

// How the two ends of a connection notice that the other one is gone.
struct NodeTiming {
  runtime::Duration introduction = std::chrono::seconds(10);
  // Each end sends at least so often.
  runtime::Duration beat_every = std::chrono::seconds(2);
  // One that is silent for so long is lost.
  runtime::Duration silence = std::chrono::seconds(10);
};

struct NodeServiceOptions {
  NodeGroupOptions group = {};
  NodeTiming timing = {};
  // How long a group that has finished waits until its nodes have closed their connections.
  runtime::Duration farewell = std::chrono::seconds(10);
};

class NodeService {
 public:
  // Owns `listener`. `clock` outlives this.
  NodeService(int listener, const NodeServiceOptions& options, runtime::Clock& clock);
  ~NodeService();
  NodeService(const NodeService&) = delete;
  NodeService& operator=(const NodeService&) = delete;

  // Serves until the group has finished and its nodes know. Returns UNAVAILABLE when the listener
  // fails.
  absl::Status Run();
  // Waits for messages, at most `wait` or until something is due, and answers them. Returns whether
  // there is more to do.
  absl::StatusOr<bool> Step(runtime::Duration wait);

  const NodeGroup& group() const { return group_; }
  std::size_t connections() const { return peers_.size(); }

 private:
  struct Peer {
    std::unique_ptr<NodeLink> link;
    std::string address;
    runtime::TimePoint came_at;
    runtime::TimePoint heard_at;
    runtime::TimePoint told_at;
    bool joined = false;
    // It gets what is left to send, and is then closed.
    bool refused = false;
  };

  absl::Status Await(runtime::Duration wait);
  absl::Status AcceptSome();
  void Hear(NodeGroup::NodeId id, Peer& peer);
  absl::Status Take(NodeGroup::NodeId id, Peer& peer, const NodeMessage& message);
  void TellAll();
  void DropLate();
  // Notes that the connection is to be closed.
  void Drop(NodeGroup::NodeId id, const absl::Status& reason);
  void CloseDropped();

  const NodeServiceOptions options_;
  runtime::Clock& clock_;
  int listener_;
  NodeGroup group_;
  std::map<NodeGroup::NodeId, Peer> peers_;
  std::map<NodeGroup::NodeId, absl::Status> dropped_;
  NodeGroup::NodeId last_id_ = 0;
  // Until then the system has nothing for another connection.
  runtime::TimePoint accept_again_at_ = {};
  std::optional<runtime::TimePoint> farewell_until_;
};

}  // namespace shoal::collectives
