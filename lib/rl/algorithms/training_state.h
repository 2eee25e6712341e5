// SPDX-License-Identifier: Apache-2.0
// Everything that training changes: parameters, those of the target network, what the optimiser
// remembers, moments of observations and returns, the counts of updates, the learning rate, and the
// weights of losses. A checkpoint keeps it (trainer_checkpoint.h), and another trainer's parameters
// may replace its own.
//
// Networks compute with its tensors, so whatever changes them writes into them. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/large_memory.h"
#include "platform/runtime/status.h"
#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/normalisation.h"
#include "rl/algorithms/trainer_checkpoint.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/policy_spec.h"
#include "rl/training/flat_optimiser.h"

namespace shoal::algorithms {

// How the learning rate goes on: as it is, in a straight line, or after the KL of updates.
enum class Schedule { kConstant, kLinear, kKl };

// INVALID_ARGUMENT for a name that is no schedule.
absl::StatusOr<Schedule> ParseSchedule(const std::string& name);

// What a state is of. It must outlive the state.
struct TrainingSetup {
  const model::PolicySpec& spec;
  const AlgorithmOptions& options;
  const model::ParameterLayout& layout;
  std::uint64_t seed = 0;
  bool has_target_network = false;
  // With kKl the learning rate goes on as it was in a checkpoint, otherwise as the options say.
  Schedule schedule = Schedule::kConstant;
};

struct TrainingState {
  // Parameters begin with the start values of the seed, the target network with the same.
  // `gradient` is [trainable]; it tells the device, and every step of the optimiser reads it.
  // `reducer` must outlive the state.
  TrainingState(const TrainingSetup& of, const training::OptimiserOptions& optimiser_options,
                const at::Tensor& gradient, collectives::GradientReducer& reducer);

  at::Device device() const { return parameters.device(); }
  // The parameters that the optimiser changes, [trainable].
  at::Tensor trainable() const { return parameters.narrow(0, 0, setup.layout.trainable); }

  // Makes `steps`. After an error of theirs, parameters and the optimiser's memory are as before.
  absl::Status Attempt(const std::function<absl::Status()>& steps);
  // Renews the moments of observations, for all networks. The errors are those of the reducer.
  absl::Status Observe(const UnrollBatch& batch);

  // Sets the learning rate of the coming update where its schedule is linear.
  void FollowSchedule();
  // What the terms of the loss weigh in the coming update.
  LossWeights weights() const;
  // Counts an update that moved the policy by `kl`, which is none without rows, and has the numbers
  // follow that hold a KL.
  void CountUpdate(std::optional<double> kl);

  // PolicyTrainer's functions of these names, which have the same contracts. Where one returns an
  // error, nothing has changed.
  TrainerCheckpoint Snapshot(const std::string& note, runtime::LargeMemoryPool& memory) const;
  absl::StatusOr<std::string> Load(const training::Checkpoint& files);
  absl::StatusOr<FittedCheckpoint> LoadFitting(const training::Checkpoint& files);
  // Goes on from the parameters of another trainer after so many updates. An empty `target` keeps
  // the target network. Returns INVALID_ARGUMENT for sizes that do not fit.
  absl::Status Adopt(std::int64_t updates_of_other, std::span<const float> parameters_of_other,
                     std::span<const float> target_of_other);

  const TrainingSetup setup;
  // [total].
  const at::Tensor parameters;
  // The parameters of the target network, [total]; undefined without one.
  const at::Tensor target;
  training::FlatOptimiser optimiser;
  Normalisation normalisation;
  std::int64_t updates = 0;
  std::int64_t clonings = 0;
  // The updates of the parameters that were adopted.
  std::int64_t adopted = 0;
  // The learning rate of the next update.
  double rate;
  // The coefficient of PPO's penalty in the next update.
  double kl_coefficient;
  // What that is multiplied by. It is not part of checkpoints.
  double kl_factor = 1;

 private:
  // REQUIRES: the checkpoint's parameters are of this layout.
  absl::Status Restore(const TrainerCheckpoint& checkpoint);
};

}  // namespace shoal::algorithms
