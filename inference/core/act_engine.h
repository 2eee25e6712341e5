// SPDX-License-Identifier: Apache-2.0
// One batch after another: rows in, actions and unrolls out.
//
// Sorts out repeats and end rows, groups what is left by policy version, evaluates each group once,
// moves every environment's memory on, and answers. Not thread-safe: one thread owns it, and with
// it all environments.
//
// An environment that sends no row for `max_idle` is forgotten, its open unroll and its incarnation
// with it, unless it waits for replay: when it comes back it is a new one. Time is that of rows'
// arrival; a pause in which no row of any environment came counts as one minute.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "inference/core/answer_batch.h"
#include "inference/core/environment_slot.h"
#include "inference/core/inference_metrics.h"
#include "inference/core/input_gatherer.h"
#include "inference/core/parking_lot.h"
#include "inference/core/policy_set.h"
#include "inference/core/row_block.h"
#include "inference/core/unroll_builder.h"
#include "platform/runtime/clock.h"

namespace shoal::inference {

struct ActOptions {
  UnrollCut cut = {};
  // Of the draws; a function of (seed, environment, episode, step).
  std::uint64_t seed = 1;
  // More are refused.
  std::size_t max_environments = std::size_t{1} << 20;
  // Environments without a row for longer are forgotten, give or take a minute.
  std::chrono::minutes max_idle{15};
};

class ActEngine {
 public:
  // References outlive this.
  ActEngine(const ActOptions& options, const PolicyShape& shape, PolicySet& policies,
            UnrollSink& sink, InferenceMetrics& metrics);

  // Called for each finished unroll of an environment.
  void OnUnroll(std::function<void(std::uint64_t environment)> on_unroll) {
    on_unroll_ = std::move(on_unroll);
  }

  // Answers every row, or parks it. REQUIRES: there are parameters.
  void Evaluate(std::vector<Row> rows);
  void Answer(const std::vector<Row>& rows, RowStatus status);
  // Replay may have room again.
  void RetryParked();
  // Lets everything go that waits for replay.
  void ReleaseParked();

  std::size_t parked() const { return parking_.size(); }

 private:
  // A row on its way through the policy.
  struct Work {
    Row row;
    EnvironmentSlot* slot = nullptr;
  };
  struct Group {
    VersionedPolicy policy;
    std::vector<Work> work;
  };

  // Moves the engine's time on by a minute when one has passed, and forgets who was idle.
  void ForgetIdle(const std::vector<Row>& rows);
  // Null when there are too many.
  EnvironmentSlot* SlotOf(const Row& row);
  void Sort(Row row);
  void TakeRow(Row row, EnvironmentSlot& slot, bool lost);
  void Refuse(const Row& row, std::string error);
  static PolicySelector SelectorOf(const Row& row);
  // True while the row's version is being fetched. The row is then to come again, and its
  // environment has not seen it.
  bool AwaitsPolicy(const Row& row);
  // Null when the version is not here: the row is then answered.
  Group* GroupOf(const Row& row);
  void Run(Group& group);
  // A newer incarnation came in the same batch: answers the row of the older one kFenced.
  bool Fence(const Work& work);
  void Settle(const Work& work, const VersionedPolicy& policy, const model::PolicyOutputs& outputs,
              std::size_t index);
  void Remember(const Work& work, const model::PolicyOutputs& outputs, std::size_t index);
  void Emit(std::optional<Unroll> unroll);
  void Send(const Row& row, RowAnswer answer);

  const ActOptions options_;
  const PolicyShape& shape_;
  PolicySet& policies_;
  InferenceMetrics& metrics_;
  std::function<void(std::uint64_t)> on_unroll_ = [](std::uint64_t) {};

  std::unordered_map<std::uint64_t, EnvironmentSlot> slots_;
  // Minutes in which rows came, and when the last one began.
  std::chrono::minutes time_{0};
  runtime::TimePoint minute_began_;
  ParkingLot parking_;
  InputGatherer gatherer_;
  AnswerBatch answers_;
  std::vector<Group> groups_;
  // Repeats of rows in this batch.
  std::vector<Row> repeats_;
};

}  // namespace shoal::inference
