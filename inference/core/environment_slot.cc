// SPDX-License-Identifier: Apache-2.0
#include "inference/core/environment_slot.h"

#include <utility>

namespace shoal::inference {

EnvironmentSlot::Decision EnvironmentSlot::Invalid(const Row& row, std::string error) {
  Decision decision{Decision::Kind::kInvalid, AnswerTo(row, RowStatus::kInvalid)};
  decision.answer.error =
      "environment " + std::to_string(row.environment()) + ": " + std::move(error);
  return decision;
}

void EnvironmentSlot::Reset(const Row& row) {
  known_ = true;
  incarnation_ = row.incarnation();
  next_sequence_ = row.sequence();
  running_ = false;
  being_answered_.reset();
  stored_ = {};
  if (builder) builder->Clear();
}

EnvironmentSlot::Decision EnvironmentSlot::Repeat(const Row& row) const {
  if (being_answered_ == row.sequence()) return {Decision::Kind::kBeingAnswered};
  for (const Stored& stored : stored_) {
    if (!stored.used || stored.sequence != row.sequence()) continue;
    Decision decision{Decision::Kind::kRepeat, AnswerTo(row, stored.status)};
    decision.answer.action = stored.action;
    decision.answer.box_action = stored.box_action;
    decision.answer.version = stored.version;
    return decision;
  }
  if (!row.acts()) return {Decision::Kind::kRepeat, AnswerTo(row, RowStatus::kAccepted)};
  return Invalid(row, "sequence " + std::to_string(row.sequence()) +
                          " is older than the answers kept; the next is " +
                          std::to_string(next_sequence_));
}

EnvironmentSlot::Decision EnvironmentSlot::Take(const Row& row) {
  if (known_ && row.incarnation() < incarnation_) return {Decision::Kind::kFenced};
  if (!known_ || row.incarnation() > incarnation_) Reset(row);
  if (row.sequence() < next_sequence_) return Repeat(row);
  const bool first = (row.flags() & kFirst) != 0;
  const bool ends = !row.acts();
  if (being_answered_) {
    return Invalid(row, "sequence " + std::to_string(row.sequence()) +
                            " came before the answer to " + std::to_string(*being_answered_));
  }
  if (!first && !ends && !running_) {
    return Invalid(row, "no episode runs here; begin one with FIRST");
  }
  const bool gap = row.sequence() > next_sequence_;
  if (gap && !first && !ends) {
    return Invalid(row, "sequence " + std::to_string(row.sequence()) + " came, expected " +
                            std::to_string(next_sequence_));
  }
  Decision decision;
  decision.lost = running_ && (first || gap);
  if (!first && (!running_ || gap)) decision.kind = Decision::Kind::kIgnore;
  next_sequence_ = row.sequence() + 1;
  running_ = !ends;
  if (first) {
    step = 0;
    episode = row.episode();
    actions = {};
  }
  return decision;
}

absl::Status EnvironmentSlot::Resume(EnvironmentState state, const Row& row,
                                     const PolicyShape& shape) {
  Reset(row);
  known_ = false;
  const std::size_t taken =
      shape.box ? state.actions.box.size() / shape.action_count : state.actions.discrete.size();
  if (state.core_state.size() != shape.core_state_size || taken == 0) {
    return runtime::InvalidArgument("the state of an episode of " + std::to_string(taken) +
                                    " actions is not of this policy");
  }
  SHOAL_RETURN_IF_ERROR(builder->Resume(std::move(state.unroll), row, state.incarnation));
  known_ = true;
  incarnation_ = state.incarnation;
  next_sequence_ = state.next_sequence;
  running_ = true;
  core_state = std::move(state.core_state);
  step = static_cast<std::uint32_t>(taken);
  episode = state.episode;
  actions = std::move(state.actions);
  return absl::OkStatus();
}

void EnvironmentSlot::Store(const RowAnswer& answer) {
  stored_[next_stored_] = {.sequence = answer.sequence,
                           .status = answer.status,
                           .action = answer.action,
                           .box_action = answer.box_action,
                           .version = answer.version,
                           .used = true};
  next_stored_ = (next_stored_ + 1) % kStoredAnswers;
}

}  // namespace shoal::inference
