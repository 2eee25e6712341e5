// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/training_state.h"

#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "platform/runtime/large_memory.h"
#include "rl/estimators/kl_control.h"
#include "rl/model/torch_device.h"
#include "rl/training/schedule.h"

namespace shoal::algorithms {
namespace {

// Training waits for the copy of a snapshot, which a second thread halves, also where torch has
// one.
constexpr int kLeastCopyingThreads = 2;

at::Tensor Zeros(std::int64_t size, const at::Device& device) {
  return at::zeros({size}, at::TensorOptions(at::kFloat).device(device));
}

// Returns a tensor of numbers on the host, which it only borrows.
at::Tensor TensorOn(std::span<const float> numbers) {
  // The data is only read; from_blob has no const form.
  return at::from_blob(const_cast<float*>(numbers.data()),
                       {static_cast<std::int64_t>(numbers.size())}, at::kFloat);
}

// Returns the numbers of a vector on any device, or none of one that is not defined.
SharedFloats CopyOf(const at::Tensor& vector, runtime::LargeMemoryPool& memory) {
  if (!vector.defined() || vector.numel() == 0) return {};
  const auto size = static_cast<std::size_t>(vector.numel());
  const std::shared_ptr<char> block = memory.Take(size * sizeof(float));
  const std::span<const float> numbers(reinterpret_cast<const float*>(block.get()), size);
  if (vector.is_cpu() && vector.is_contiguous() && vector.scalar_type() == at::kFloat) {
    runtime::CopyLarge(block.get(), static_cast<const char*>(vector.const_data_ptr()),
                       size * sizeof(float), std::max(at::get_num_threads(), kLeastCopyingThreads));
  } else {
    TensorOn(numbers).copy_(vector.detach());
  }
  return SharedFloats(block, numbers);
}

}  // namespace

absl::StatusOr<Schedule> ParseSchedule(const std::string& name) {
  if (name == "constant") return Schedule::kConstant;
  if (name == "linear") return Schedule::kLinear;
  if (name == "kl") return Schedule::kKl;
  return runtime::InvalidArgument("algorithm.schedule: \"" + name +
                                  "\" is none of constant, linear, kl");
}

TrainingState::TrainingState(const TrainingSetup& of,
                             const training::OptimiserOptions& optimiser_options,
                             const at::Tensor& gradient, collectives::GradientReducer& reducer)
    : setup(of),
      parameters(Zeros(setup.layout.total, gradient.device())),
      target(setup.has_target_network ? Zeros(setup.layout.total, gradient.device())
                                      : at::Tensor()),
      optimiser(optimiser_options, trainable(), gradient,
                {{.offset = 0, .size = setup.layout.trainable}}),
      normalisation(setup.spec,
                    {.clipping = setup.options.clipping(),
                     .limit = setup.options.reward_limit,
                     .normalise_returns = setup.options.normalise_returns,
                     .gamma = setup.options.gamma},
                    reducer),
      rate(setup.options.learning_rate),
      kl_coefficient(setup.options.kl_coefficient) {
  std::vector<float> initial(static_cast<std::size_t>(setup.layout.total));
  setup.layout.Initialise(setup.seed, initial);
  parameters.copy_(model::OnDevice(initial, device()));
  if (target.defined()) target.copy_(parameters);
}

absl::Status TrainingState::Attempt(const std::function<absl::Status()>& steps) {
  const at::Tensor parameters_before = trainable().clone();
  const training::FlatOptimiser::Moments moments_before{optimiser.moments().first.clone(),
                                                        optimiser.moments().second.clone(),
                                                        optimiser.moments().steps};
  const absl::Status passed = steps();
  if (passed.ok()) return passed;
  trainable().copy_(parameters_before);
  optimiser.Restore(moments_before);
  return passed;
}

absl::Status TrainingState::Observe(const UnrollBatch& batch) {
  if (!normalisation.normalises_observations()) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(normalisation.Observe(batch));
  const auto write = [this](const char* name, const std::vector<float>& numbers) {
    const model::ParameterInfo* const place = setup.layout.Find(name);
    const at::Tensor renewed = model::OnDevice(numbers, device());
    parameters.narrow(0, place->offset, place->size).copy_(renewed);
    if (target.defined()) target.narrow(0, place->offset, place->size).copy_(renewed);
  };
  write(model::kObservationMean, normalisation.observation_mean());
  write(model::kObservationScale, normalisation.observation_scale());
  return absl::OkStatus();
}

void TrainingState::FollowSchedule() {
  if (setup.schedule != Schedule::kLinear) return;
  const AlgorithmOptions& options = setup.options;
  const double end = options.learning_rate * options.schedule_end;
  rate = end + training::LinearRate(options.learning_rate - end, updates, options.schedule_updates);
}

LossWeights TrainingState::weights() const {
  return {.entropy = setup.options.EntropyAfter(updates), .kl = kl_coefficient * kl_factor};
}

void TrainingState::CountUpdate(std::optional<double> kl) {
  ++updates;
  const double target = setup.options.kl_target;
  if (!kl) return;
  if (setup.schedule == Schedule::kKl) rate = estimators::KlAdaptiveRate(rate, *kl, target);
  if (kl_coefficient > 0 && target > 0) {
    kl_coefficient = estimators::AdaptiveKlCoefficient(kl_coefficient, *kl, target);
  }
}

TrainerCheckpoint TrainingState::Snapshot(const std::string& note,
                                          runtime::LargeMemoryPool& memory) const {
  const training::FlatOptimiser::Moments& moments = optimiser.moments();
  return {.spec = setup.spec,
          .layout = setup.layout,
          .parameters = CopyOf(parameters, memory),
          .target = CopyOf(target, memory),
          .optimiser = setup.options.optimiser,
          .first_moment = CopyOf(moments.first, memory),
          .second_moment = CopyOf(moments.second, memory),
          .optimiser_steps = moments.steps,
          .normalisation = normalisation.has_moments() ? normalisation.Serialise() : "",
          .updates = updates,
          .clonings = clonings,
          .learning_rate = rate,
          .kl_coefficient = kl_coefficient,
          .seed = setup.seed,
          .note = note};
}

absl::Status TrainingState::Restore(const TrainerCheckpoint& checkpoint) {
  if (checkpoint.optimiser != setup.options.optimiser) {
    return runtime::FailedPrecondition("checkpoint: of optimiser " + checkpoint.optimiser +
                                       ", algorithm.optimiser is " + setup.options.optimiser);
  }
  const training::FlatOptimiser::Moments& own = optimiser.moments();
  const at::Tensor first = TensorOn(checkpoint.first_moment);
  const at::Tensor second = TensorOn(checkpoint.second_moment);
  if (first.sizes() != own.first.sizes() || second.sizes() != own.second.sizes()) {
    return runtime::DataLoss(
        "checkpoint: moments of the optimiser have other sizes than parameters");
  }
  if (target.defined() && checkpoint.target.empty()) {
    return runtime::FailedPrecondition("checkpoint: without the target network that algorithm " +
                                       setup.options.name + " needs");
  }
  SHOAL_RETURN_IF_ERROR(normalisation.Restore(checkpoint.normalisation));
  parameters.copy_(TensorOn(checkpoint.parameters));
  if (target.defined()) target.copy_(TensorOn(checkpoint.target));
  optimiser.Restore({first, second, checkpoint.optimiser_steps});
  updates = checkpoint.updates;
  clonings = checkpoint.clonings;
  if (setup.schedule == Schedule::kKl) rate = checkpoint.learning_rate;
  // A penalty that begins here starts as the options say, and one that stays does so too.
  const bool adapts = setup.options.kl_coefficient > 0 && setup.options.kl_target > 0;
  if (adapts && checkpoint.kl_coefficient > 0) kl_coefficient = checkpoint.kl_coefficient;
  return absl::OkStatus();
}

absl::StatusOr<std::string> TrainingState::Load(const training::Checkpoint& files) {
  SHOAL_ASSIGN_OR_RETURN(TrainerCheckpoint checkpoint, ReadTrainerCheckpoint(files, setup.spec));
  if (checkpoint.spec.Digest() != setup.spec.Digest()) {
    SHOAL_ASSIGN_OR_RETURN(const model::FitReport report,
                           FitToNetwork(setup.spec, setup.seed, checkpoint));
    const std::string changes = ToString(report);
    return runtime::FailedPrecondition(
        "checkpoint " + std::to_string(files.number) + ": of another [policy] than this one's: " +
        (changes.empty() ? "all its parameters have the same shapes" : changes) +
        " (learner.fit_parameters keeps what fits)");
  }
  SHOAL_RETURN_IF_ERROR(Restore(checkpoint));
  return std::move(checkpoint.note);
}

absl::StatusOr<FittedCheckpoint> TrainingState::LoadFitting(const training::Checkpoint& files) {
  SHOAL_ASSIGN_OR_RETURN(TrainerCheckpoint checkpoint, ReadTrainerCheckpoint(files, setup.spec));
  SHOAL_ASSIGN_OR_RETURN(model::FitReport report, FitToNetwork(setup.spec, setup.seed, checkpoint));
  if (checkpoint.target.empty()) checkpoint.target = checkpoint.parameters;
  SHOAL_RETURN_IF_ERROR(Restore(checkpoint));
  return FittedCheckpoint{std::move(checkpoint.note), std::move(report)};
}

absl::Status TrainingState::Adopt(std::int64_t updates_of_other,
                                  std::span<const float> parameters_of_other,
                                  std::span<const float> target_of_other) {
  const auto size = static_cast<std::size_t>(setup.layout.total);
  if (parameters_of_other.size() != size ||
      (!target_of_other.empty() && (target_of_other.size() != size || !target.defined()))) {
    return runtime::InvalidArgument("parameters: " + std::to_string(parameters_of_other.size()) +
                                    " and " + std::to_string(target_of_other.size()) +
                                    " numbers, not " + std::to_string(size));
  }
  parameters.copy_(model::OnDevice(parameters_of_other, at::kCPU));
  if (!target_of_other.empty()) {
    target.copy_(model::OnDevice(target_of_other, at::kCPU));
  }
  updates = adopted = updates_of_other;
  return absl::OkStatus();
}

}  // namespace shoal::algorithms
