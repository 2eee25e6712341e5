// SPDX-License-Identifier: Apache-2.0
#include "text/language/language_trainer.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "rl/model/torch_device.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"
#include "rl/training/zero_optimiser.h"
#include "text/language/causal_loss.h"
#include "text/language/gpt2_layout.h"
#include "text/language/gpt2_network.h"
#include "text/language/trainer_checkpoint.h"
#include "text/language/trainer_memory.h"

namespace shoal::language {
namespace {

using runtime::DType;

// The minimum number of slices for each thread, unless they would be smaller than kMinSlice.
constexpr std::int64_t kSlicesPerThread = 2;
constexpr std::int64_t kMinSlice = 256;

constexpr std::int64_t kCpuSlice = 2048;
constexpr std::int64_t kGpuSlice = 16384;

// Sums over targets: loss, weight, and the weight of the correctly predicted targets.
using Sums = std::array<double, 3>;

// The same while slices run. What the device computes stays there, so that nothing waits for it.
struct Tally {
  explicit Tally(at::Device device)
      : loss_and_correct(at::zeros({2}, at::TensorOptions(at::kDouble).device(device))) {}

  at::Tensor loss_and_correct;  // [2], float64
  double weight = 0;
};

LossReport ReportOf(const Sums& sums) {
  LossReport report;
  if (sums[1] <= 0) return report;
  report.loss = sums[0] / sums[1];
  report.perplexity = std::exp(report.loss);
  report.accuracy = sums[2] / sums[1];
  report.targets = sums[1];
  return report;
}

absl::Status CheckBatch(const WeightedBatch& batch, const Gpt2Config& config) {
  SHOAL_RETURN_IF_ERROR(batch.tokens.Validate(config));
  if (!batch.weights.empty() && batch.weights.size() != batch.tokens.ids.size()) {
    return runtime::InvalidArgument("token batch: weights have another size than ids");
  }
  for (std::size_t i = 0; i < batch.weights.size(); ++i) {
    if (!std::isfinite(batch.weights[i]) || batch.weights[i] < 0) {
      return runtime::InvalidArgument("token batch: weight at " + std::to_string(i) +
                                      " is negative or not finite");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TrainerOptions::Validate() const {
  SHOAL_RETURN_IF_ERROR(optimiser.Validate());
  if (adapter) SHOAL_RETURN_IF_ERROR(adapter->Validate());
  if (precision != runtime::DType::kFloat32 && precision != runtime::DType::kBFloat16) {
    return runtime::InvalidArgument("precision is neither float32 nor bfloat16");
  }
  if (slice_tokens < 0) {
    return runtime::InvalidArgument("slice of " + std::to_string(slice_tokens) +
                                    " tokens is less than 0");
  }
  if (!(max_gradient_norm >= 0 && max_gradient_norm <= 1e30)) {
    return runtime::InvalidArgument("largest gradient norm " + std::to_string(max_gradient_norm) +
                                    " is not from 0 to 1e30");
  }
  return absl::OkStatus();
}

struct LanguageTrainer::State {
  State(Gpt2Parameters from, const TrainerOptions& trainer, at::Device where,
        collectives::GradientReducer& group);

  const TrainerOptions options;
  collectives::GradientReducer& reducer;
  const at::Device device;
  // The model at the start. Its `flat` is kept only with an adapter, which leaves it unchanged.
  Gpt2Parameters start;
  // The layout of the parameters that are trained.
  const model::ParameterLayout layout;
  at::Tensor flat;       // [layout.total]
  at::Tensor gradients;  // [networks, layout.total]
  std::vector<std::unique_ptr<Gpt2Network>> networks;
  std::unique_ptr<training::ZeroOptimiser> optimiser;
  std::int64_t steps = 0;

  bool adapts() const { return options.adapter.has_value(); }
  at::ScalarType compute() const {
    return options.precision == DType::kBFloat16 ? at::kBFloat16 : at::kFloat;
  }
  std::int64_t slice_tokens() const {
    if (options.slice_tokens > 0) return options.slice_tokens;
    return device.is_cpu() ? kCpuSlice : kGpuSlice;
  }
  void RunSlice(Gpt2Network& network, const WeightedBatch& slice, Tally& tally) const;
  // Adds to `gradients` if `with_gradients`.
  Sums Run(const WeightedBatch& batch, bool with_gradients) const;
  // Call it after parameters have changed.
  void Refresh() {
    for (const auto& network : networks) network->Refresh();
  }
  absl::StatusOr<StepReport> Step(const WeightedBatch& batch, double learning_rate);
  TrainerIdentity identity() const { return {start.config.ToJson(), options.optimiser.kind}; }
};

LanguageTrainer::State::State(Gpt2Parameters from, const TrainerOptions& trainer, at::Device where,
                              collectives::GradientReducer& group)
    : options(trainer),
      reducer(group),
      device(where),
      start(std::move(from)),
      layout(options.adapter ? LoraLayout(start.config, *options.adapter)
                             : Gpt2Layout(start.config)) {
  const std::int64_t copies = GradientArrays(options, layout.total, at::get_num_threads());
  at::Tensor frozen;
  if (adapts()) {
    std::vector<float> values(static_cast<std::size_t>(layout.total));
    layout.Initialise(options.seed, values);
    flat = model::OnDevice(values, device);
    frozen = model::OnDevice(start.flat, device);
  } else {
    flat = model::OnDevice(start.flat, device);
    start.flat = {};
  }
  gradients = at::zeros({copies, layout.total}, flat.options());
  const NetworkOptions network{.compute = compute(), .checkpoint = options.checkpoint_blocks};
  for (std::int64_t i = 0; i < copies; ++i) {
    auto made = std::make_unique<Gpt2Network>(start.config, adapts() ? frozen : flat,
                                              adapts() ? at::Tensor() : gradients[i], network);
    if (adapts()) made->Adapt(*options.adapter, flat, gradients[i]);
    networks.push_back(std::move(made));
  }
  std::vector<training::FlatOptimiser::Part> parts;
  for (const model::ParameterInfo& info : layout.parameters) {
    parts.push_back({info.offset, info.size, info.shape.size() >= 2});
  }
  optimiser = std::make_unique<training::ZeroOptimiser>(
      options.optimiser, options.zero_stage,
      training::ZeroOptimiser::Arrays{flat, gradients, std::move(parts)}, reducer);
}

void LanguageTrainer::State::RunSlice(Gpt2Network& network, const WeightedBatch& slice,
                                      Tally& tally) const {
  const PackedTokens tokens(slice.tokens, device);
  const CausalLoss loss =
      ComputeCausalLoss(network.Hidden(tokens, start.config.layers), network.embedding(),
                        slice.tokens, slice.weights, {.compute = compute()});
  if (at::GradMode::is_enabled() && loss.weight > 0) {
    loss.sum.backward();
    network.CollectGradients();
  }
  tally.loss_and_correct.add_(at::stack({loss.sum.detach(), loss.correct}));
  tally.weight += loss.weight;
}

Sums LanguageTrainer::State::Run(const WeightedBatch& batch, bool with_gradients) const {
  const std::size_t threads = networks.size();
  const std::int64_t share =
      batch.tokens.tokens() / (static_cast<std::int64_t>(threads) * kSlicesPerThread);
  const std::vector<std::int64_t> cuts =
      Cuts(batch.tokens,
           threads == 1 ? slice_tokens() : std::min(slice_tokens(), std::max(share, kMinSlice)));
  const std::size_t count = cuts.size() - 1;
  std::vector<Tally> tallies;
  for (std::size_t i = 0; i < threads; ++i) tallies.emplace_back(device);
  const auto run = [&](std::size_t thread, std::size_t step) {
    const at::AutoGradMode mode(with_gradients);
    for (std::size_t i = thread; i < count; i += step) {
      WeightedBatch slice{batch.tokens.Slice(cuts[i], cuts[i + 1]), {}};
      if (!batch.weights.empty()) {
        const auto begin = batch.tokens.starts[static_cast<std::size_t>(cuts[i])];
        slice.weights.assign(batch.weights.begin() + begin,
                             batch.weights.begin() + begin + slice.tokens.tokens());
      }
      RunSlice(*networks[thread], slice, tallies[thread]);
    }
  };
  if (threads == 1 || count < threads) {
    run(0, 1);
  } else {
    at::parallel_for(0, static_cast<std::int64_t>(threads), 1,
                     [&](std::int64_t begin, std::int64_t end) {
                       for (auto thread = begin; thread < end; ++thread) {
                         run(static_cast<std::size_t>(thread), threads);
                       }
                     });
  }
  Sums total{};
  std::vector<at::Tensor> on_device;
  for (const Tally& tally : tallies) on_device.push_back(tally.loss_and_correct);
  const std::vector<at::Tensor> on_host = model::ToHost(on_device);
  for (std::size_t i = 0; i < threads; ++i) {
    const double* const values = on_host[i].const_data_ptr<double>();
    total[0] += values[0];
    total[1] += tallies[i].weight;
    total[2] += values[1];
  }
  return total;
}

absl::StatusOr<StepReport> LanguageTrainer::State::Step(const WeightedBatch& batch,
                                                        double learning_rate) {
  optimiser->ClearGradients();
  Sums sums = Run(batch, true);
  SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<double>(sums)));
  SHOAL_RETURN_IF_ERROR(optimiser->ReduceGradients());
  StepReport report{.loss = ReportOf(sums), .gradient_norm = 0, .step = steps + 1};
  if (report.loss.targets > 0) {
    SHOAL_ASSIGN_OR_RETURN(const double norm, optimiser->GradientNorm());
    report.gradient_norm = norm / sums[1];
    if (!std::isfinite(report.gradient_norm)) {
      return collectives::SharedFailure("the gradient of step " + std::to_string(report.step) +
                                        " is not finite");
    }
    const double allowed = options.max_gradient_norm;
    const bool clips = allowed > 0 && report.gradient_norm > allowed;
    optimiser->ScaleGradient((clips ? allowed / report.gradient_norm : 1) / sums[1]);
    SHOAL_RETURN_IF_ERROR(optimiser->Step(learning_rate));
    Refresh();
  }
  steps = report.step;
  return report;
}

LanguageTrainer::LanguageTrainer(std::unique_ptr<State> state) : state_(std::move(state)) {}
LanguageTrainer::~LanguageTrainer() = default;

absl::StatusOr<std::unique_ptr<LanguageTrainer>> LanguageTrainer::Create(
    Gpt2Parameters start, const TrainerOptions& options, collectives::GradientReducer& reducer) {
  model::ApplyTorchThreads();
  SHOAL_RETURN_IF_ERROR(start.config.Validate());
  SHOAL_RETURN_IF_ERROR(options.Validate());
  if (static_cast<std::int64_t>(start.flat.size()) != Gpt2Layout(start.config).total) {
    return runtime::InvalidArgument("parameters are of another config");
  }
  SHOAL_ASSIGN_OR_RETURN(const at::Device device, model::FindDevice(options.device));
  return model::GuardTorch("trainer", [&]() -> absl::StatusOr<std::unique_ptr<LanguageTrainer>> {
    return std::unique_ptr<LanguageTrainer>(
        new LanguageTrainer(std::make_unique<State>(std::move(start), options, device, reducer)));
  });
}

absl::StatusOr<StepReport> LanguageTrainer::Step(const WeightedBatch& batch, double learning_rate) {
  SHOAL_RETURN_IF_ERROR(CheckBatch(batch, config()));
  return model::GuardTorch("training step", [&] { return state_->Step(batch, learning_rate); });
}

absl::StatusOr<LossReport> LanguageTrainer::Evaluate(const WeightedBatch& batch) {
  SHOAL_RETURN_IF_ERROR(CheckBatch(batch, config()));
  return model::GuardTorch("evaluation", [&]() -> absl::StatusOr<LossReport> {
    Sums sums = state_->Run(batch, false);
    SHOAL_RETURN_IF_ERROR(state_->reducer.AllReduceSum(std::span<double>(sums)));
    return ReportOf(sums);
  });
}

const Gpt2Config& LanguageTrainer::config() const { return state_->start.config; }
std::int64_t LanguageTrainer::steps() const { return state_->steps; }
std::int64_t LanguageTrainer::moment_bytes() const { return state_->optimiser->moment_bytes(); }
std::int64_t LanguageTrainer::gradient_bytes() const { return state_->optimiser->gradient_bytes(); }

Gpt2Parameters LanguageTrainer::Parameters() const {
  if (!state_->adapts()) return {config(), model::OnHost(state_->flat)};
  Gpt2Parameters merged = state_->start;
  MergeLora(*Adapter(), merged);
  return merged;
}

std::optional<LoraParameters> LanguageTrainer::Adapter() const {
  if (!state_->adapts()) return std::nullopt;
  return LoraParameters{*state_->options.adapter, model::OnHost(state_->flat)};
}

absl::Status LanguageTrainer::Save(training::Checkpoint& checkpoint) {
  return model::GuardTorch("checkpoint", [&]() -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(const auto moments, state_->optimiser->GatherMoments());
    if (state_->reducer.rank() == 0) {
      SaveTrainer(state_->identity(), {state_->steps, state_->flat, moments}, checkpoint);
    }
    return absl::OkStatus();
  });
}

absl::Status LanguageTrainer::Restore(const training::Checkpoint& checkpoint) {
  SHOAL_ASSIGN_OR_RETURN(const TrainerSnapshot snapshot,
                         ReadTrainer(checkpoint, state_->identity(), state_->flat.numel()));
  return model::GuardTorch("restored parameters", [&] {
    state_->steps = snapshot.steps;
    state_->flat.copy_(snapshot.parameters);
    state_->optimiser->Restore(snapshot.moments);
    state_->Refresh();
    return absl::OkStatus();
  });
}

}  // namespace shoal::language
