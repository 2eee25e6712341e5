// SPDX-License-Identifier: Apache-2.0
// The acting engine turns batches of rows into actions and unrolls.
//
// For each batch it sorts out repeats and end rows, groups the remaining rows by policy version,
// evaluates each group once, updates the memory of every environment and answers every row. The
// current version is read once for each batch. An engine is not thread-safe: one thread owns it
// and, with it, the state of the environments whose rows come to it. With several devices there is
// an engine for each, and all rows of an environment come to the same one (batcher_set.h).
//
// An environment that sends no row for `max_idle` is forgotten together with its open unroll and
// its incarnation, unless it waits for replay. If it returns, it is treated as a new environment.
// The engine's time is taken from the arrival of rows, and a pause without any row counts as one
// minute.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "inference/core/answer_batch.h"
#include "inference/core/environment_slot.h"
#include "inference/core/environment_state.h"
#include "inference/core/exploration.h"
#include "inference/core/inference_metrics.h"
#include "inference/core/input_gatherer.h"
#include "inference/core/parking_lot.h"
#include "inference/core/policy_set.h"
#include "inference/core/row_block.h"
#include "inference/core/unroll_builder.h"
#include "platform/runtime/clock.h"

namespace shoal::inference {

struct ActOptions {
  // The replica of the policy that evaluates.
  std::size_t replica = 0;
  UnrollCut cut = {};
  Exploration exploration = {};
  PriorityOptions priority = {};
  // Holds the frames of a batch while the policy sees them (rl/model/host_memory.h).
  std::pmr::memory_resource* frame_memory = std::pmr::get_default_resource();
  // The seed of action sampling. A sample depends only on (seed, environment, episode, step).
  std::uint64_t seed = 1;
  // Rows of further environments are answered kInvalid.
  std::size_t max_environments = std::size_t{1} << 20;
  // An environment without a row for longer than this is forgotten, within a minute.
  std::chrono::minutes max_idle{15};
};

class ActEngine {
 public:
  // The referenced objects must outlive the engine.
  ActEngine(const ActOptions& options, const PolicyShape& shape, PolicySet& policies,
            UnrollSink& sink, InferenceMetrics& metrics);

  // For deterministic mode: finished unrolls wait for RetryParked, and `on_unroll` is called for
  // each with its environment. With `notes_actions` the engine keeps what States needs. Call it
  // before the first row.
  void WorkInLockstep(std::function<void(std::uint64_t environment)> on_unroll,
                      bool notes_actions) {
    lockstep_ = true;
    notes_actions_ = notes_actions;
    on_unroll_ = std::move(on_unroll);
  }

  // Answers every row or parks its answer until replay has room.
  // REQUIRES: `policies` has current parameters.
  void Evaluate(std::vector<Row> rows);
  void Answer(const std::vector<Row>& rows, RowStatus status);
  // Lock step: the unroll that was finished last ends a round that was played in this version. Call
  // it before RetryParked.
  void EndRound(const parameters::Version& played) { parking_.EndRound(played); }
  // Tries to insert the parked unrolls again. Call it when replay may have room.
  void RetryParked();
  // Drops the unrolls that still find no room in replay and sends all parked answers.
  void ReleaseParked();

  std::size_t parked() const { return parking_.size(); }

  // Returns the state of every training environment, for each of which an action was chosen last.
  // None where unrolls have groups, which are more than that. REQUIRES: lockstep with noted
  // actions, and a policy that observes no contents.
  std::vector<EnvironmentState> States() const;
  // Goes on with these environments where they were, each in its incarnation, in place of what the
  // engine knows of them, as soon as rows of theirs come. Forgets those that it was told before.
  void Resume(std::vector<EnvironmentState> states);
  // Returns false where `row` is to be evaluated. Otherwise it has been answered: its environment
  // is one that goes on.
  bool AnswerResumed(const Row& row);
  // Drops the open unrolls of all environments, whose episodes go on.
  void DropOpenUnrolls();

 private:
  struct Resumption {
    EnvironmentState state;
    // The row whose actor was told, by incarnation and sequence.
    std::optional<std::pair<std::uint64_t, std::uint64_t>> told = std::nullopt;
  };
  // A row that waits for its forward pass.
  struct Work {
    Row row;
    EnvironmentSlot* slot = nullptr;
  };
  struct Group {
    VersionedPolicy policy;
    std::vector<Work> work;
  };

  // Whether `row` is what an actor sends that has been told of the resumption: the row that follows
  // the last action, or a later FIRST row where it could not go on.
  static bool GoesOn(const Resumption& resumption, const Row& row);
  // Advances the engine's time when a minute has passed, and forgets idle environments.
  void ForgetIdle(const std::vector<Row>& rows);
  // Returns null when there are too many environments.
  EnvironmentSlot* SlotOf(const Row& row);
  void Sort(Row row);
  void TakeRow(Row row, EnvironmentSlot& slot, bool lost);
  void Refuse(const Row& row, std::string error);
  static PolicySelector SelectorOf(const Row& row);
  // Returns true while the policy version that the row names is being fetched. The client must then
  // send the row again, and the environment's state is unchanged.
  bool AwaitsPolicy(const Row& row);
  // Returns null when the policy version cannot be had; the row has then been answered.
  Group* GroupOf(const Row& row);
  static bool IsByName(const PolicySelector& selector);
  void Run(Group& group);
  // Answers kFenced and returns true if a newer incarnation came in the same batch.
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
  bool lockstep_ = false;
  bool notes_actions_ = false;
  std::function<void(std::uint64_t)> on_unroll_ = [](std::uint64_t) {};
  std::unordered_map<std::uint64_t, Resumption> resumptions_;

  std::unordered_map<std::uint64_t, EnvironmentSlot> slots_;
  // What acts in this batch unless a row names another version.
  VersionedPolicy current_;
  // Counts the minutes in which rows arrived.
  std::chrono::minutes time_{0};
  runtime::TimePoint minute_began_;
  ParkingLot parking_;
  InputGatherer gatherer_;
  AnswerBatch answers_;
  std::vector<Group> groups_;
  // The rows of this batch that repeat a row which is being answered.
  std::vector<Row> repeats_;
};

}  // namespace shoal::inference
