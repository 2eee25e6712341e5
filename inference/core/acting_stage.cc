// SPDX-License-Identifier: Apache-2.0
#include "inference/core/acting_stage.h"

#include <utility>

#include "platform/runtime/clock.h"

namespace shoal::inference {

ActingStage::ActingStage(Batcher& batcher, ActEngine& engine, PolicySet& policies,
                         InferenceMetrics& metrics, std::size_t lockstep_environments)
    : batcher_(batcher), engine_(engine), policies_(policies), metrics_(metrics) {
  if (lockstep_environments > 0) {
    gate_.emplace(lockstep_environments);
    engine_.OnUnroll([this](std::uint64_t environment) { gate_->Delivered(environment); });
  }
  thread_ = runtime::Thread("act", [this] { Run(); });
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
  for (Row& row : rows) gate_->Add(std::move(row));
  if (draining) {
    gate_->Clear();
    return;
  }
  for (;;) {
    std::vector<Row> step = gate_->TakeStep(policies_.current().version);
    if (step.empty()) break;
    Evaluate(std::move(step));
  }
  metrics_.SetWaiting(WaitReason::kLockstep, gate_->size());
}

void ActingStage::Evaluate(std::vector<Row> rows) {
  if (rows.empty()) return;
  const auto start = std::chrono::steady_clock::now();
  engine_.Evaluate(std::move(rows));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  metrics_.batch_seconds.Observe(seconds.count());
}

}  // namespace shoal::inference
