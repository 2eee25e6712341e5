// SPDX-License-Identifier: Apache-2.0
#include "inference/core/act_engine.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "platform/runtime/log.h"

namespace shoal::inference {
namespace {

// Returns row `index` of `actions` [B, n] in the units of the row's box, which is [-1, 1] there:
// the nearest point of the box where an action lies outside.
std::vector<float> InBox(const RowLayout& layout, std::span<const float> actions,
                         std::size_t index) {
  const std::size_t n = layout.action_low.size();
  std::vector<float> action;
  for (std::size_t i = 0; i < n; ++i) {
    const float share = std::clamp((actions[index * n + i] + 1) / 2, 0.0F, 1.0F);
    action.push_back(std::lerp(layout.action_low[i], layout.action_high[i], share));
  }
  return action;
}

}  // namespace

ActEngine::ActEngine(const ActOptions& options, const PolicyShape& shape, PolicySet& policies,
                     UnrollSink& sink, InferenceMetrics& metrics)
    : options_(options),
      shape_(shape),
      policies_(policies),
      metrics_(metrics),
      parking_(sink, metrics),
      gatherer_(shape, options.seed, options.frame_memory),
      answers_(metrics) {}

void ActEngine::Evaluate(std::vector<Row> rows) {
  ForgetIdle(rows);
  current_ = policies_.current();
  for (Row& row : rows) Sort(std::move(row));
  for (Group& group : groups_) Run(group);
  std::vector<Row> repeats;
  repeats.swap(repeats_);
  for (Row& row : repeats) Sort(std::move(row));
  answers_.Deliver();
  groups_.clear();
  current_ = {};
  metrics_.environments.Set(static_cast<double>(slots_.size()));
}

void ActEngine::Answer(const std::vector<Row>& rows, RowStatus status) {
  for (const Row& row : rows) answers_.Add(row, AnswerTo(row, status));
  answers_.Deliver();
}

void ActEngine::RetryParked() {
  parking_.Retry(answers_);
  answers_.Deliver();
}

void ActEngine::ReleaseParked() {
  parking_.Release(answers_);
  answers_.Deliver();
}

void ActEngine::ForgetIdle(const std::vector<Row>& rows) {
  runtime::TimePoint now = minute_began_;
  for (const Row& row : rows) now = std::max(now, row.block->arrived);
  if (now - minute_began_ < std::chrono::minutes(1)) return;
  minute_began_ = now;
  ++time_;
  for (auto it = slots_.begin(); it != slots_.end();) {
    if (parking_.IsParked(it->first)) it->second.last_row = time_;
    const bool idle = time_ - it->second.last_row > options_.max_idle;
    it = idle ? slots_.erase(it) : std::next(it);
  }
}

EnvironmentSlot* ActEngine::SlotOf(const Row& row) {
  const auto found = slots_.find(row.environment());
  if (found != slots_.end()) return &found->second;
  if (slots_.size() >= options_.max_environments) return nullptr;
  return &slots_[row.environment()];
}

void ActEngine::Refuse(const Row& row, std::string error) {
  RowAnswer answer = AnswerTo(row, RowStatus::kInvalid);
  answer.error = std::move(error);
  answers_.Add(row, std::move(answer));
}

void ActEngine::Sort(Row row) {
  if (AwaitsPolicy(row)) {
    answers_.Add(row, AnswerTo(row, RowStatus::kOverloaded));
    return;
  }
  EnvironmentSlot* slot = SlotOf(row);
  if (slot == nullptr) {
    Refuse(row, "more than " + std::to_string(options_.max_environments) + " environments");
    return;
  }
  slot->last_row = time_;
  using Kind = EnvironmentSlot::Decision::Kind;
  EnvironmentSlot::Decision decision = slot->Take(row);
  switch (decision.kind) {
    case Kind::kProceed:
      TakeRow(std::move(row), *slot, decision.lost);
      return;
    case Kind::kIgnore: {
      if (decision.lost && slot->builder) Emit(slot->builder->SetOutcome(0, kTruncated));
      RowAnswer answer = AnswerTo(row, RowStatus::kAccepted);
      slot->Store(answer);
      Send(row, std::move(answer));
      return;
    }
    case Kind::kRepeat:
      Send(row, std::move(decision.answer));
      return;
    case Kind::kBeingAnswered:
      repeats_.push_back(std::move(row));
      return;
    case Kind::kFenced:
      answers_.Add(row, AnswerTo(row, RowStatus::kFenced));
      return;
    case Kind::kInvalid:
      answers_.Add(row, std::move(decision.answer));
      return;
  }
}

void ActEngine::TakeRow(Row row, EnvironmentSlot& slot, bool lost) {
  const bool first = (row.flags() & kFirst) != 0;
  if (row.evaluate()) {
    slot.builder.reset();
  } else if (!slot.builder) {
    slot.builder = std::make_unique<UnrollBuilder>(shape_, options_.cut, options_.priority);
  }
  if (slot.builder && lost) Emit(slot.builder->SetOutcome(0, kTruncated));
  if (slot.builder && !first) {
    Emit(slot.builder->SetOutcome(row.block->rewards[row.index], row.flags()));
  }
  if (row.ends_only() || (row.evaluate() && !row.acts())) {
    RowAnswer answer = AnswerTo(row, RowStatus::kAccepted);
    slot.Store(answer);
    Send(row, std::move(answer));
    return;
  }
  Group* group = GroupOf(row);
  if (group == nullptr) return;
  if (row.acts()) slot.BeginAnswer(row);
  group->work.push_back({std::move(row), &slot});
}

PolicySelector ActEngine::SelectorOf(const Row& row) {
  if (!row.evaluate() || row.block->selectors.empty()) return {};
  return row.block->selectors[row.index];
}

bool ActEngine::IsByName(const PolicySelector& selector) {
  return selector.kind == PolicySelector::Kind::kPinned ||
         selector.kind == PolicySelector::Kind::kInitial;
}

bool ActEngine::AwaitsPolicy(const Row& row) {
  const PolicySelector selector = SelectorOf(row);
  return IsByName(selector) && absl::IsUnavailable(policies_.Select(selector).status());
}

ActEngine::Group* ActEngine::GroupOf(const Row& row) {
  const VersionedPolicy* policy = &current_;
  absl::StatusOr<VersionedPolicy> named;
  if (const PolicySelector selector = SelectorOf(row); IsByName(selector)) {
    named = policies_.Select(selector);
    if (!named.ok()) {
      Refuse(row, runtime::Message(named.status()));
      return nullptr;
    }
    policy = &*named;
  }
  for (Group& group : groups_) {
    const bool train = !group.work.front().row.evaluate();
    if (group.policy.policy == policy->policy && train == !row.evaluate()) return &group;
  }
  groups_.push_back({*policy, {}});
  return &groups_.back();
}

void ActEngine::Run(Group& group) {
  gatherer_.Begin(group.work.size());
  for (const Work& work : group.work) {
    gatherer_.Add(
        work.row, *work.slot,
        options_.exploration.Epsilon(work.row.environment(), group.policy.environment_steps));
  }
  metrics_.batch_rows.Observe(static_cast<double>(group.work.size()));
  metrics_.replica_rows.Increment(static_cast<double>(group.work.size()));
  const absl::StatusOr<model::PolicyOutputs> outputs =
      group.policy.policy->Act(gatherer_.inputs(), options_.replica);
  if (!outputs.ok()) {
    spdlog::error("event=forward_pass_failed replica={} rows={} reason={}", options_.replica,
                  group.work.size(), runtime::Quoted(runtime::Message(outputs.status())));
    for (const Work& work : group.work) {
      if (Fence(work)) continue;
      work.slot->EndAnswer();
      if (work.slot->builder) work.slot->builder->Clear();
      Refuse(work.row, "the policy cannot be evaluated: " + runtime::Message(outputs.status()));
    }
    return;
  }
  for (std::size_t i = 0; i < group.work.size(); ++i) {
    Settle(group.work[i], group.policy, *outputs, i);
  }
}

bool ActEngine::Fence(const Work& work) {
  if (work.row.incarnation() == work.slot->incarnation()) return false;
  answers_.Add(work.row, AnswerTo(work.row, RowStatus::kFenced));
  return true;
}

void ActEngine::Settle(const Work& work, const VersionedPolicy& policy,
                       const model::PolicyOutputs& outputs, std::size_t index) {
  if (Fence(work)) return;
  EnvironmentSlot& slot = *work.slot;
  const Row& row = work.row;
  if (slot.builder) {
    const model::PolicyInputs& inputs = gatherer_.inputs();
    const auto slice = [index](const std::vector<float>& values, std::size_t width) {
      return values.empty() ? std::span<const float>()
                            : std::span(values).subspan(index * width, width);
    };
    Emit(slot.builder->Append(
        row, {.action = outputs.action[index],
              .box_action = slice(outputs.box_action, shape_.action_count),
              .log_probability = shape_.box ? outputs.log_probability[index]
                                            : std::min(outputs.log_probability[index], 0.0F),
              .value = outputs.value[index],
              .action_value = shape_.action_values ? outputs.action_value[index] : 0.0F,
              .forced = inputs.choice[index] == model::Choice::kForced && !row.relabelled(),
              .version = policy.version,
              .core_state = slice(inputs.core_state, shape_.core_state_size),
              .past_requests = slice(inputs.past_requests, shape_.embedding_size)}));
  }
  Remember(work, outputs, index);
  RowAnswer answer = AnswerTo(row, row.acts() ? RowStatus::kOk : RowStatus::kAccepted);
  answer.action = outputs.action[index];
  if (shape_.box) answer.box_action = InBox(*row.block->layout, outputs.box_action, index);
  answer.version = policy.version;
  if (notes_actions_ && slot.builder && row.acts()) {
    if (shape_.box) {
      slot.actions.box.insert(slot.actions.box.end(), answer.box_action.begin(),
                              answer.box_action.end());
    } else {
      slot.actions.discrete.push_back(answer.action);
    }
  }
  slot.EndAnswer();
  slot.Store(answer);
  Send(row, std::move(answer));
}

void ActEngine::Remember(const Work& work, const model::PolicyOutputs& outputs, std::size_t index) {
  EnvironmentSlot& slot = *work.slot;
  const Row& row = work.row;
  if (shape_.core_state_size > 0) {
    const auto begin =
        outputs.core_state.begin() + static_cast<std::ptrdiff_t>(index * shape_.core_state_size);
    slot.core_state.assign(begin, begin + static_cast<std::ptrdiff_t>(shape_.core_state_size));
  }
  if (shape_.past_requests) {
    if ((row.flags() & kFirst) != 0) slot.past_requests.assign(shape_.embedding_size, 0.0F);
    slot.past_requests.resize(shape_.embedding_size, 0.0F);
    const std::size_t place =
        row.index * shape_.content_count + static_cast<std::size_t>(shape_.request_index);
    const embedding::Embedding embedding =
        shape_.request_index < 0 ? nullptr : row.block->embeddings[place];
    for (std::size_t i = 0; embedding && i < shape_.embedding_size; ++i) {
      slot.past_requests[i] += runtime::FromHalf((*embedding)[i]);
    }
  }
  // A client that names ever new contents does not make it grow.
  constexpr std::size_t kMostContents = 256;
  if ((row.flags() & kFirst) != 0 || slot.steps_about.size() >= kMostContents) {
    slot.steps_about.clear();
  }
  if (!row.acts()) return;
  ++slot.step;
  ++slot.steps_about[row.SimilarityKey(shape_)];
}

void ActEngine::Emit(std::optional<Unroll> unroll) {
  if (!unroll) return;
  const std::uint64_t environment = unroll->environment;
  if (lockstep_) {
    parking_.Park(*std::move(unroll));
  } else {
    parking_.Insert(*std::move(unroll));
  }
  on_unroll_(environment);
}

std::vector<EnvironmentState> ActEngine::States() const {
  std::vector<EnvironmentState> states;
  for (const auto& [environment, slot] : slots_) {
    if (!slot.builder) continue;
    if (slot.builder->grouped()) return {};
    states.push_back({.environment = environment,
                      .incarnation = slot.incarnation(),
                      .episode = slot.episode,
                      .actions = slot.actions,
                      .next_sequence = slot.next_sequence(),
                      .core_state = slot.core_state,
                      .unroll = slot.builder->open()});
  }
  std::sort(states.begin(), states.end(),
            [](const auto& a, const auto& b) { return a.environment < b.environment; });
  return states;
}

void ActEngine::Resume(std::vector<EnvironmentState> states) {
  resumptions_.clear();
  for (EnvironmentState& state : states) {
    const std::uint64_t environment = state.environment;
    resumptions_[environment].state = std::move(state);
  }
}

bool ActEngine::GoesOn(const Resumption& resumption, const Row& row) {
  const EnvironmentState& state = resumption.state;
  if (!resumption.told || row.incarnation() != state.incarnation) return false;
  if (std::pair(row.incarnation(), row.sequence()) == *resumption.told) return false;
  const bool first = (row.flags() & kFirst) != 0;
  return first ? row.sequence() > state.next_sequence : row.sequence() == state.next_sequence;
}

bool ActEngine::AnswerResumed(const Row& row) {
  const auto found = resumptions_.find(row.environment());
  if (found == resumptions_.end() || row.evaluate()) return false;
  Resumption& resumption = found->second;
  const EnvironmentState& state = resumption.state;
  if (GoesOn(resumption, row)) {
    resumptions_.erase(found);
    return false;
  }
  const bool outdated = resumption.told && row.incarnation() != state.incarnation &&
                        row.incarnation() < resumption.told->first;
  if (!row.acts() || outdated) {
    Answer({row}, outdated ? RowStatus::kFenced : RowStatus::kAccepted);
    return true;
  }
  EnvironmentSlot* slot = SlotOf(row);
  if (slot == nullptr) return false;
  slot->builder = std::make_unique<UnrollBuilder>(shape_, options_.cut, options_.priority);
  const absl::Status resumed = slot->Resume(state, row, shape_);
  if (!resumed.ok()) {
    spdlog::warn("event=environment_not_resumed environment={} reason={}", row.environment(),
                 runtime::Quoted(runtime::Message(resumed)));
    resumptions_.erase(found);
    return false;
  }
  resumption.told = {row.incarnation(), row.sequence()};
  RowAnswer answer = AnswerTo(row, RowStatus::kResumed);
  answer.resumed =
      std::make_shared<const ResumedEpisode>(ResumedEpisode{.incarnation = state.incarnation,
                                                            .episode = state.episode,
                                                            .next_sequence = state.next_sequence,
                                                            .actions = state.actions});
  answers_.Add(row, std::move(answer));
  answers_.Deliver();
  return true;
}

void ActEngine::DropOpenUnrolls() {
  for (auto& [environment, slot] : slots_) {
    if (slot.builder) slot.builder->Clear();
  }
}

void ActEngine::Send(const Row& row, RowAnswer answer) {
  if (!row.evaluate() && parking_.IsParked(row.environment())) {
    if (!parking_.Hold(row, answer)) {
      answers_.Add(row, AnswerTo(row, RowStatus::kOverloaded));
    }
    return;
  }
  answers_.Add(row, std::move(answer));
}

}  // namespace shoal::inference
