// SPDX-License-Identifier: Apache-2.0
// What the nodes of an elastic group and the service that brings them together (node_service.h)
// tell each other: lines of words with one space between them.
//
// A node to the service:
//   join 1 <name> <ranks> <epoch> <port>
//   ended <epoch> <exit code> <cause> <port>
//   leave <running | ended>
//
// The service to a node:
//   start <epoch> <first rank> <world size> <address> <port> <cause>
//   stop <epoch> <cause> <orderly | now>
//   finish <exit code>
//   refuse <reason>
//
// Either to the other:
//   beat
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "platform/runtime/status.h"

namespace shoal::collectives {

// Why ranks are stopped or started, a graver cause after a lesser one.
enum class ChangeCause {
  kFormed,  // the first ranks of this service
  kJoined,  // another node came
  kFailed,  // a rank failed
  kLeft,    // a node was asked to end
  kLost,    // the connection to a node ended, or it was silent too long
};
// Returns "formed", "joined", "failed", "left" or "lost".
std::string ToString(ChangeCause cause);

// A node is there, runs no ranks, and listens for the other ranks at `port` in case it gets rank 0.
struct NodeJoins {
  std::string name = {};
  std::int64_t ranks = 1;
  // The newest epoch that it has had ranks of, or 0.
  std::uint64_t epoch = 0;
  std::uint16_t port = 0;

  bool operator==(const NodeJoins&) const = default;
};
// All ranks of a node have ended, and it listens again.
struct RanksEnded {
  std::uint64_t epoch = 0;
  // 0 when each rank ended with 0.
  int exit_code = 0;
  // What ToString(FailureCause) returns, or "none".
  std::string cause = "none";
  std::uint16_t port = 0;

  bool operator==(const RanksEnded&) const = default;
};
// A node will close the connection: once its ranks are told to stop, or because they have ended.
struct NodeLeaves {
  bool ended = false;

  bool operator==(const NodeLeaves&) const = default;
};
struct StartRanks {
  std::uint64_t epoch = 0;
  std::int64_t first_rank = 0;
  std::int64_t world_size = 1;
  // Where rank 0 listens.
  std::string address = {};
  std::uint16_t port = 0;
  ChangeCause cause = ChangeCause::kFormed;

  bool operator==(const StartRanks&) const = default;
};
struct StopRanks {
  std::uint64_t epoch = 0;
  ChangeCause cause = ChangeCause::kLost;
  // Whether the group is whole, so that its ranks can finish their step and save.
  bool orderly = false;

  bool operator==(const StopRanks&) const = default;
};
// Nothing is started any more. Ranks that run end by themselves.
struct FinishNode {
  int exit_code = 0;

  bool operator==(const FinishNode&) const = default;
};
// The node cannot join, now at least.
struct RefuseNode {
  std::string reason = {};

  bool operator==(const RefuseNode&) const = default;
};
struct Beat {
  bool operator==(const Beat&) const = default;
};

using NodeMessage = std::variant<NodeJoins, RanksEnded, NodeLeaves, StartRanks, StopRanks,
                                 FinishNode, RefuseNode, Beat>;

// The longest line, its end included.
inline constexpr std::size_t kMaxNodeLine = 512;

// Returns `message` as a line with its end. REQUIRES: names, causes and addresses are such as
// Decode takes.
std::string Encode(const NodeMessage& message);
// Takes a line without its end. INVALID_ARGUMENT names what is wrong with it.
absl::StatusOr<NodeMessage> Decode(std::string_view line);

// INVALID_ARGUMENT unless `name` has 1 to 64 letters, digits, '-', '_' and '.'.
absl::Status CheckNodeName(std::string_view name);

}  // namespace shoal::collectives
