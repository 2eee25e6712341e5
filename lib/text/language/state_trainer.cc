// SPDX-License-Identifier: Apache-2.0
#include "text/language/state_trainer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/std_mean.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "rl/model/torch_device.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"
#include "text/language/state_network.h"
#include "text/language/trainer_checkpoint.h"

namespace shoal::language {
namespace {

// Numbers of the base that hardly vary are not blown up.
constexpr double kLeastDeviation = 1e-3;
constexpr double kNotCompared = -1e9;

at::Tensor HiddenTensor(const HiddenTexts& texts) {
  auto* const values = const_cast<float*>(texts.states.values<float>().data());
  return at::from_blob(values, texts.states.shape(), at::kFloat);
}

absl::Status WrongBatch(const std::string& why) {
  return runtime::InvalidArgument("state batch: " + why);
}

}  // namespace

absl::Status StateTrainerOptions::Validate() const {
  SHOAL_RETURN_IF_ERROR(optimiser.Validate());
  for (const double weight : {reconstruction_weight, contrast_weight, max_gradient_norm}) {
    if (!(weight >= 0 && weight <= 1e30)) {
      return runtime::InvalidArgument(
          "a weight or the largest gradient norm is not from 0 to 1e30");
    }
  }
  if (!(temperature >= 1e-3 && temperature <= 1e3)) {
    return runtime::InvalidArgument("temperature " + std::to_string(temperature) +
                                    " is not from 0.001 to 1000");
  }
  return absl::OkStatus();
}

absl::Status StateBatch::Validate(std::int64_t width) const {
  SHOAL_RETURN_IF_ERROR(segments.Validate(width));
  const auto views = static_cast<std::int64_t>(ends.size());
  if (views < 3) return WrongBatch("fewer than three views");
  if (partners.size() != ends.size()) return WrongBatch("not one partner for each view");
  std::size_t begin = 0;
  for (std::size_t view = 0; view < ends.size(); ++view) {
    if (ends[view] <= begin) return WrongBatch("view " + std::to_string(view) + " has no segment");
    begin = ends[view];
    const std::int64_t partner = partners[view];
    if (partner < 0 || partner >= views || partner == static_cast<std::int64_t>(view) ||
        partners[static_cast<std::size_t>(partner)] != static_cast<std::int64_t>(view)) {
      return WrongBatch("view " + std::to_string(view) + " has no partner");
    }
  }
  if (begin != uses.size()) return WrongBatch("segments that no view has");
  for (const Use& use : uses) {
    if (use.segment < 0 || use.segment >= segments.texts() || segments.length(use.segment) == 0 ||
        !(use.weight > 0 && use.weight < 1e30F)) {
      return WrongBatch("segment " + std::to_string(use.segment) + " has no states or no weight");
    }
  }
  return absl::OkStatus();
}

struct StateTrainer::State {
  State(const StateConfig& sizes, const StateTrainerOptions& trainer)
      : config(sizes), options(trainer), layout(StateLayout(sizes)) {
    std::vector<float> values(static_cast<std::size_t>(layout.total));
    layout.Initialise(options.seed, values);
    flat = at::zeros({layout.total}, at::kFloat);
    std::memcpy(flat.data_ptr<float>(), values.data(), values.size() * sizeof(float));
    gradient = at::zeros({layout.total}, at::kFloat);
    network = std::make_unique<const StateNetwork>(config, layout, flat, gradient);
    std::vector<training::FlatOptimiser::Part> parts;
    for (const model::ParameterInfo& info : layout.parameters) {
      if (info.name == kStateMean || info.name == kStateScale) continue;
      parts.push_back({info.offset, info.size, info.shape.size() >= 2});
    }
    optimiser = std::make_unique<training::FlatOptimiser>(options.optimiser, flat, gradient, parts);
  }

  at::Tensor At(const char* name) const {
    const model::ParameterInfo* info = layout.Find(name);
    return flat.narrow(0, info->offset, info->size);
  }
  // Returns the sum of both terms and fills in `report`.
  at::Tensor Loss(const StateBatch& batch, StateReport& report) const;
  at::Tensor Contrast(const StateBatch& batch, const at::Tensor& latents,
                      StateReport& report) const;
  absl::StatusOr<StateReport> Step(const StateBatch& batch, double learning_rate);
  TrainerIdentity identity() const { return {config.ToJson(), options.optimiser.kind}; }

  const StateConfig config;
  const StateTrainerOptions options;
  const model::ParameterLayout layout;
  at::Tensor flat;
  at::Tensor gradient;
  std::unique_ptr<const StateNetwork> network;
  std::unique_ptr<training::FlatOptimiser> optimiser;
  std::int64_t steps = 0;
};

at::Tensor StateTrainer::State::Contrast(const StateBatch& batch, const at::Tensor& latents,
                                         StateReport& report) const {
  std::vector<std::int64_t> segments;
  std::vector<std::int64_t> views;
  std::vector<float> weights;
  for (std::size_t use = 0, view = 0; use < batch.uses.size(); ++use) {
    while (use >= batch.ends[view]) ++view;
    segments.push_back(batch.uses[use].segment);
    views.push_back(static_cast<std::int64_t>(view));
    weights.push_back(batch.uses[use].weight);
  }
  const auto count = static_cast<std::int64_t>(batch.ends.size());
  const at::Tensor parts =
      latents.index_select(0, at::tensor(segments)).mul(at::tensor(weights).unsqueeze(1));
  const at::Tensor sums =
      at::zeros({count, config.latent}, at::kFloat).index_add(0, at::tensor(views), parts);
  const at::Tensor bodies = sums.div(at::linalg_vector_norm(sums, 2, {1}, true).clamp_min(1e-6));
  const at::Tensor partners = at::tensor(batch.partners);
  // First views have 1, second views 0.
  const at::Tensor alike = partners.gt(at::arange(count, partners.options())).to(at::kLong);
  const at::Tensor scores = bodies.matmul(bodies.t())
                                .div(options.temperature)
                                .add(alike.eq(alike.unsqueeze(1)).to(at::kFloat).mul(kNotCompared));
  report.accuracy = scores.detach().argmax(1).eq(partners).to(at::kDouble).mean().item<double>();
  return at::log_softmax(scores, 1).gather(1, partners.unsqueeze(1)).mean().neg();
}

at::Tensor StateTrainer::State::Loss(const StateBatch& batch, StateReport& report) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(batch.segments.texts()));
  std::iota(all.begin(), all.end(), 0);
  const PaddedStates padded =
      Padded(network->Standardised(HiddenTensor(batch.segments)), batch.segments.starts, all);
  const at::Tensor latents = network->Latents(padded);
  const at::Tensor reconstruction =
      at::mse_loss(network->Decode(latents), Binned(padded, config.bins()));
  const at::Tensor contrast = Contrast(batch, latents, report);
  const at::Tensor loss =
      reconstruction.mul(options.reconstruction_weight).add(contrast.mul(options.contrast_weight));
  report.loss = loss.item<double>();
  report.reconstruction = reconstruction.item<double>();
  report.contrast = contrast.item<double>();
  report.step = steps;
  return loss;
}

absl::StatusOr<StateReport> StateTrainer::State::Step(const StateBatch& batch,
                                                      double learning_rate) {
  const at::AutoGradMode mode(true);
  gradient.zero_();
  StateReport report;
  Loss(batch, report).backward();
  const at::NoGradGuard none;
  report.gradient_norm = training::ClipByNorm(gradient, options.max_gradient_norm);
  if (!std::isfinite(report.gradient_norm)) {
    return runtime::Internal("the gradient of step " + std::to_string(steps + 1) +
                             " is not finite");
  }
  optimiser->Step(learning_rate);
  report.step = ++steps;
  return report;
}

StateTrainer::StateTrainer(std::unique_ptr<State> state) : state_(std::move(state)) {}
StateTrainer::~StateTrainer() = default;

absl::StatusOr<std::unique_ptr<StateTrainer>> StateTrainer::Create(
    const StateConfig& config, const StateTrainerOptions& options) {
  model::ApplyTorchThreads();
  SHOAL_RETURN_IF_ERROR(config.Validate());
  SHOAL_RETURN_IF_ERROR(options.Validate());
  return model::GuardTorch("state trainer", [&]() -> absl::StatusOr<std::unique_ptr<StateTrainer>> {
    return std::unique_ptr<StateTrainer>(
        new StateTrainer(std::make_unique<State>(config, options)));
  });
}

absl::Status StateTrainer::Measure(const HiddenTexts& texts) {
  SHOAL_RETURN_IF_ERROR(texts.Validate(state_->config.width));
  if (texts.states.shape()[0] < 2) {
    return runtime::InvalidArgument("fewer than two hidden states to measure");
  }
  return model::GuardTorch("state trainer", [&]() -> absl::Status {
    const at::NoGradGuard none;
    constexpr std::int64_t kOverRows[] = {0};
    const auto [deviation, mean] = at::std_mean(HiddenTensor(texts), at::IntArrayRef(kOverRows),
                                                /*unbiased=*/true, /*keepdim=*/false);
    state_->At(kStateMean).copy_(mean);
    state_->At(kStateScale).copy_(deviation.clamp_min(kLeastDeviation).reciprocal());
    return absl::OkStatus();
  });
}

absl::StatusOr<StateReport> StateTrainer::Step(const StateBatch& batch, double learning_rate) {
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->config.width));
  return model::GuardTorch("training step", [&] { return state_->Step(batch, learning_rate); });
}

absl::StatusOr<StateReport> StateTrainer::Evaluate(const StateBatch& batch) const {
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->config.width));
  return model::GuardTorch("evaluation", [&]() -> absl::StatusOr<StateReport> {
    const at::NoGradGuard none;
    StateReport report;
    state_->Loss(batch, report);
    return report;
  });
}

std::int64_t StateTrainer::steps() const { return state_->steps; }

StateParameters StateTrainer::Parameters() const {
  const std::int64_t total = PoolingLayout(state_->config).total;
  return {state_->config, model::OnHost(state_->flat.narrow(0, 0, total))};
}

void StateTrainer::Save(training::Checkpoint& checkpoint) const {
  SaveTrainer(state_->identity(), {state_->steps, state_->flat, state_->optimiser->moments()},
              checkpoint);
}

absl::Status StateTrainer::Restore(const training::Checkpoint& checkpoint) {
  SHOAL_ASSIGN_OR_RETURN(const TrainerSnapshot snapshot,
                         ReadTrainer(checkpoint, state_->identity(), state_->flat.numel()));
  state_->steps = snapshot.steps;
  state_->flat.copy_(snapshot.parameters);
  state_->optimiser->Restore(snapshot.moments);
  return absl::OkStatus();
}

}  // namespace shoal::language
