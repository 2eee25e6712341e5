// SPDX-License-Identifier: Apache-2.0
#include "inference/core/acting_stage.h"

#include <iterator>
#include <utility>

#include "platform/runtime/clock.h"
#include "platform/runtime/log.h"

namespace shoal::inference {

ActingStage::ActingStage(Batcher& batcher, ActEngine& engine, PolicySet& policies,
                         InferenceMetrics& metrics, const Lockstep& lockstep,
                         const std::string& thread)
    : batcher_(batcher),
      engine_(engine),
      policies_(policies),
      metrics_(metrics),
      states_(lockstep.states) {
  if (lockstep.environments > 0) {
    gate_.emplace(lockstep.environments, lockstep.unrolls, lockstep.first_unrolls);
    engine_.WorkInLockstep([this](std::uint64_t environment) { gate_->Delivered(environment); },
                           states_ != nullptr);
  }
  thread_ = runtime::Thread(thread, [this] { Run(); });
}

ActingStage::~ActingStage() {
  batcher_.Close();
  thread_.Join();
}

void ActingStage::Drain() { batcher_.Drain(); }

void ActingStage::Run() {
  for (;;) {
    Batcher::Batch batch = batcher_.Take();
    const bool woken = batch.woken;
    const bool draining = batch.draining;
    const bool ended = batch.ended;
    Act(std::move(batch));
    if (woken && engine_.parked() > 0) engine_.RetryParked();
    if (draining) engine_.ReleaseParked();
    metrics_.SetWaiting(WaitReason::kBatch, batcher_.size());
    if (ended) break;
  }
  if (gate_) gate_->Clear();
}

void ActingStage::Act(Batcher::Batch batch) {
  engine_.Answer(batch.expired, RowStatus::kExpired);
  if (policies_.current().policy == nullptr) {
    engine_.Answer(batch.rows, RowStatus::kOverloaded);
    return;
  }
  if (!gate_) {
    Evaluate(std::move(batch.rows));
    return;
  }
  std::vector<Row> train;
  std::vector<Row> evaluate;
  for (Row& row : batch.rows) (row.evaluate() ? evaluate : train).push_back(std::move(row));
  ActInLockstep(std::move(train), batch.draining);
  Evaluate(std::move(evaluate));
}

void ActingStage::ActInLockstep(std::vector<Row> rows, bool draining) {
  if (draining) {
    gate_->Clear();
    return;
  }
  if (const VersionedPolicy current = policies_.current(); current.version.epoch != epoch_) {
    std::vector<Row> held = gate_->StartAfresh();
    BeginEpoch(current);
    rows.insert(rows.begin(), std::make_move_iterator(held.begin()),
                std::make_move_iterator(held.end()));
  }
  for (Row& row : rows) {
    if (!engine_.AnswerResumed(row)) gate_->Add(std::move(row));
  }
  for (;;) {
    const VersionedPolicy current = policies_.current();
    // A new epoch begins with the rows that come next.
    if (current.version.epoch != epoch_) {
      batcher_.Wake();
      break;
    }
    std::vector<Row> step = gate_->TakeStep(current.version);
    if (step.empty()) break;
    if (current.checkpoint && current.update != update_ && states_) states_->Hold(current.update);
    update_ = current.update;
    Evaluate(std::move(step));
    if (gate_->RoundOver()) {
      engine_.EndRound(current.version);
      KeepRound(current);
    }
    engine_.RetryParked();
  }
  metrics_.SetWaiting(WaitReason::kLockstep, gate_->size());
}

void ActingStage::BeginEpoch(const VersionedPolicy& current) {
  epoch_ = current.version.epoch;
  update_ = current.update;
  // The learner trains on nothing that older epochs did.
  engine_.DropOpenUnrolls();
  engine_.Resume({});
  if (!states_) return;
  std::optional<RoundState> state = states_->Find(current.update);
  if (!state) return;
  spdlog::info("event=environments_resumed update={} environments={}", current.update,
               state->environments.size());
  if (state->acted.epoch != epoch_) {
    BeginEpochAt(*state, current.version);
    states_->Keep(*state);
  }
  states_->Hold(current.update);
  engine_.Resume(std::move(state->environments));
}

void ActingStage::KeepRound(const VersionedPolicy& acted) {
  if (!states_) return;
  std::vector<EnvironmentState> environments = engine_.States();
  if (environments.empty()) return;
  states_->Keep({.update = acted.update + 1,
                 .acted = acted.version,
                 .environments = std::move(environments)});
}

void ActingStage::Evaluate(std::vector<Row> rows) {
  if (rows.empty()) return;
  const auto start = std::chrono::steady_clock::now();
  engine_.Evaluate(std::move(rows));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  metrics_.batch_seconds.Observe(seconds.count());
}

}  // namespace shoal::inference
