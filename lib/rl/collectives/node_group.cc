// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/node_group.h"

#include <algorithm>

#include "platform/runtime/log.h"
#include "platform/runtime/program.h"

namespace shoal::collectives {

NodeGroup::NodeGroup(const NodeGroupOptions& options, runtime::Clock& clock)
    : options_(options),
      clock_(clock),
      restarts_(options.max_restarts, options.min_back_off, options.max_back_off) {}

absl::Status NodeGroup::Join(NodeId id, const NodeJoins& node, const std::string& address) {
  if (phase_ == Phase::kFinished) {
    Tell(id, FinishNode{exit_code_});
    return absl::OkStatus();
  }
  const auto namesake = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& other) {
    return other.what.name == node.name;
  });
  if (namesake != nodes_.end()) {
    return absl::AlreadyExistsError("there is a node " + node.name + " already, at " +
                                    namesake->address);
  }
  if (static_cast<std::int64_t>(nodes_.size()) >= options_.max_nodes + kMaxWaitingNodes) {
    return runtime::ResourceExhausted("there are " + std::to_string(nodes_.size()) +
                                      " nodes already");
  }
  // Epochs are milliseconds of somebody's clock, and one from nowhere would leave none after it.
  constexpr std::uint64_t kClocksDiffer = 24 * 3600 * 1000;
  if (node.epoch > clock_.UnixNanos() / 1'000'000 + kClocksDiffer) {
    return runtime::InvalidArgument("epoch " + std::to_string(node.epoch) +
                                    " is more than a day ahead of the clock");
  }
  nodes_.push_back({.id = id, .what = node, .address = address});
  epoch_ = std::max(epoch_, node.epoch);
  settled_at_ = std::max(settled_at_, clock_.Now() + options_.settle);
  spdlog::info("event=node_joined node={} address={} ranks={} nodes={}", node.name, address,
               node.ranks, nodes_.size());
  return absl::OkStatus();
}

void NodeGroup::Ended(NodeId id, const RanksEnded& ended) {
  const auto node = Find(id);
  if (node == nodes_.end() || !node->runs || ended.epoch != epoch_) return;
  node->runs = false;
  node->what.port = ended.port;
  if (phase_ != Phase::kRunning) return;
  if (ended.exit_code == 0) return Finish(0);
  exit_code_ = ended.exit_code;
  spdlog::warn("event=ranks_failed node={} epoch={} exit_code={} cause={}", node->what.name, epoch_,
               ended.exit_code, ended.cause);
  Stop(ChangeCause::kFailed, /*orderly=*/false);
}

void NodeGroup::Leave(NodeId id, const NodeLeaves& leave) {
  const auto node = Find(id);
  if (node == nodes_.end()) return;
  const bool ran = node->runs;
  node->runs = ran && !leave.ended;
  if (std::exchange(node->leaves, true)) return;
  spdlog::info("event=node_leaves node={} ended={}", node->what.name, leave.ended);
  if (ran) Stop(ChangeCause::kLeft, !leave.ended);
}

void NodeGroup::Gone(NodeId id) {
  const auto node = Find(id);
  if (node == nodes_.end()) return;
  const Node gone = *node;
  nodes_.erase(node);
  spdlog::log(gone.leaves || finished() ? spdlog::level::info : spdlog::level::warn,
              "event=node_gone node={} had_ranks={} left={} nodes={}", gone.what.name, gone.runs,
              gone.leaves, nodes_.size());
  if (gone.runs) Stop(gone.leaves ? ChangeCause::kLeft : ChangeCause::kLost, gone.leaves);
}

void NodeGroup::Look() {
  const runtime::TimePoint now = clock_.Now();
  if (phase_ == Phase::kRunning && now >= settled_at_ &&
      Places(/*running=*/true) < options_.max_nodes && Places(/*running=*/false) > 0) {
    Stop(ChangeCause::kJoined, /*orderly=*/true);
  }
  if (phase_ == Phase::kStopping && !AnyRuns()) Conclude();
  if (phase_ != Phase::kGathering) return;
  const std::int64_t ready = Places(/*running=*/false);
  const bool settled =
      now >= settled_at_ || (ready >= options_.max_nodes && cause_ != ChangeCause::kFailed);
  if (ready >= options_.min_nodes && settled) Start();
}

std::optional<runtime::TimePoint> NodeGroup::NextLook() const {
  if (phase_ == Phase::kFinished) return std::nullopt;
  const runtime::TimePoint now = clock_.Now();
  std::optional<runtime::TimePoint> next;
  if (settled_at_ > now) next = settled_at_;
  if (phase_ == Phase::kStopping && end_by_ > now) next = std::min(next.value_or(end_by_), end_by_);
  return next;
}

std::vector<NodeGroup::NodeId> NodeGroup::Overdue() const {
  std::vector<NodeId> overdue;
  if (phase_ != Phase::kStopping || clock_.Now() < end_by_) return overdue;
  for (const Node& node : nodes_) {
    if (node.runs) overdue.push_back(node.id);
  }
  return overdue;
}

std::vector<NodeGroup::Node>::iterator NodeGroup::Find(NodeId id) {
  return std::find_if(nodes_.begin(), nodes_.end(),
                      [id](const Node& node) { return node.id == id; });
}

void NodeGroup::Stop(ChangeCause cause, bool orderly) {
  const runtime::TimePoint now = clock_.Now();
  if (phase_ == Phase::kRunning) {
    phase_ = Phase::kStopping;
    cause_ = cause;
    orderly_ = orderly;
    end_by_ = now + (orderly ? options_.orderly_limit : options_.stop_limit);
  } else if (phase_ == Phase::kStopping) {
    cause_ = std::max(cause_, cause);
    if (orderly || !orderly_) return;
    orderly_ = false;
    end_by_ = std::min(end_by_, now + options_.stop_limit);
  } else {
    return;
  }
  spdlog::info("event=ranks_stop epoch={} cause={} orderly={}", epoch_, ToString(cause_), orderly_);
  for (const Node& node : nodes_) {
    if (node.runs) Tell(node.id, StopRanks{epoch_, cause_, orderly_});
  }
}

void NodeGroup::Conclude() {
  const runtime::TimePoint now = clock_.Now();
  phase_ = Phase::kGathering;
  if (now - started_at_ >= options_.settled_after) restarts_.Restore();
  if (cause_ == ChangeCause::kFailed) BackOff();
  if (cause_ >= ChangeCause::kLeft) settled_at_ = std::max(settled_at_, now + options_.settle);
  if (phase_ != Phase::kGathering || Places(/*running=*/false) >= options_.min_nodes) return;
  spdlog::warn("event=nodes_missing cause={} nodes={} min_nodes={}", ToString(cause_),
               Places(/*running=*/false), options_.min_nodes);
}

void NodeGroup::BackOff() {
  if (restarts_.spent()) {
    spdlog::error("event=group_given_up failures={} exit_code={}", restarts_.in_a_row() + 1,
                  exit_code_);
    return Finish(exit_code_);
  }
  settled_at_ = std::max(settled_at_, clock_.Now() + restarts_.Take());
}

void NodeGroup::Start() {
  epoch_ = NextEpoch(epoch_, clock_);
  std::vector<Node*> chosen;
  StartRanks start{.epoch = epoch_, .world_size = 0, .cause = cause_};
  for (Node& node : nodes_) {
    if (node.leaves || static_cast<std::int64_t>(chosen.size()) == options_.max_nodes) continue;
    chosen.push_back(&node);
    start.world_size += node.what.ranks;
  }
  start.address = chosen.front()->address;
  start.port = chosen.front()->what.port;
  for (Node* const node : chosen) {
    Tell(node->id, start);
    start.first_rank += node->what.ranks;
    node->runs = true;
  }
  phase_ = Phase::kRunning;
  started_at_ = clock_.Now();
  spdlog::info("event=ranks_start epoch={} cause={} nodes={} ranks={} first={} waiting={}", epoch_,
               ToString(cause_), chosen.size(), start.world_size, chosen.front()->what.name,
               nodes_.size() - chosen.size());
}

void NodeGroup::Finish(int exit_code) {
  phase_ = Phase::kFinished;
  exit_code_ = exit_code;
  spdlog::info("event=group_finished epoch={} exit_code={}", epoch_, exit_code);
  for (const Node& node : nodes_) Tell(node.id, FinishNode{exit_code});
}

bool NodeGroup::AnyRuns() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.runs; });
}

std::int64_t NodeGroup::Places(bool running) const {
  return std::count_if(nodes_.begin(), nodes_.end(), [running](const Node& node) {
    return node.runs == running && !node.leaves;
  });
}

}  // namespace shoal::collectives
