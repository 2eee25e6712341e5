// SPDX-License-Identifier: Apache-2.0
#include "text/language/language_trainer.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <cmath>
#include <span>
#include <utility>

#include "rl/model/torch_device.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"
#include "rl/training/tensor_memory.h"
#include "rl/training/zero_optimiser.h"
#include "text/language/batch_pass.h"
#include "text/language/gpt2_layout.h"
#include "text/language/gpt2_network.h"
#include "text/language/trainer_checkpoint.h"
#include "text/language/trainer_memory.h"

namespace shoal::language {
namespace {

using runtime::DType;
using training::Receivers;

constexpr std::int64_t kCpuSlice = 2048;
constexpr std::int64_t kGpuSlice = 16384;

using Sums = BatchPass::Sums;

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
  if (adapter) {
    SHOAL_RETURN_IF_ERROR(adapter->Validate());
    if (zero_stage >= training::ZeroStage::kParameters) {
      return runtime::InvalidArgument(
          "ZeRO stage 3 divides parameters that are trained, not those below an adapter");
    }
  }
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
  BatchPass::Networks networks;
  std::unique_ptr<training::ZeroOptimiser> optimiser;
  std::int64_t steps = 0;

  bool adapts() const { return options.adapter.has_value(); }
  // Whether parameters are divided among the ranks.
  bool by_unit() const {
    return options.zero_stage >= training::ZeroStage::kParameters && reducer.world_size() > 1;
  }
  at::ScalarType compute() const {
    return options.precision == DType::kBFloat16 ? at::kBFloat16 : at::kFloat;
  }
  std::int64_t slice_tokens() const {
    if (options.slice_tokens > 0) return options.slice_tokens;
    return device.is_cpu() ? kCpuSlice : kGpuSlice;
  }
  void RestoreParameters(std::vector<float>& values);
  // Adds to the gradients if `with_gradients`, which are then summed over the ranks.
  absl::StatusOr<Sums> Run(const WeightedBatch& batch, bool with_gradients);
  // Call it after parameters have changed.
  void Refresh() {
    if (optimiser->divides_parameters()) return;
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
  training::ZeroOptimiser::Arrays arrays;
  const auto numbers = at::TensorOptions(device).dtype(at::kFloat);
  for (const std::int64_t size : TrainedUnits(start.config, options)) {
    arrays.parameters.push_back(at::empty({size}, numbers));
    arrays.gradients.push_back(at::empty({copies, size}, numbers));
    if (!by_unit()) continue;
    training::ReleaseMemory(arrays.parameters.back());
    training::ReleaseMemory(arrays.gradients.back());
  }
  for (const model::ParameterInfo& info : layout.parameters) {
    arrays.parts.push_back({info.offset, info.size, info.shape.size() >= 2});
  }
  const NetworkOptions network{.compute = compute(),
                               .checkpoint = options.checkpoint_blocks && !by_unit(),
                               .by_unit = by_unit()};
  const at::Tensor frozen = adapts() ? model::OnDevice(start.flat, device) : at::Tensor();
  for (std::int64_t i = 0; i < copies; ++i) {
    if (adapts()) {
      networks.push_back(
          std::make_unique<Gpt2Network>(start.config, frozen, at::Tensor(), network));
      networks.back()->Adapt(*options.adapter, arrays.parameters[0], arrays.gradients[0][i]);
      continue;
    }
    std::vector<at::Tensor> rows;
    for (const at::Tensor& gradients : arrays.gradients) rows.push_back(gradients[i]);
    networks.push_back(
        std::make_unique<Gpt2Network>(start.config, arrays.parameters, rows, network));
  }
  optimiser = std::make_unique<training::ZeroOptimiser>(options.optimiser, options.zero_stage,
                                                        std::move(arrays), reducer);
  if (adapts()) {
    std::vector<float> values(static_cast<std::size_t>(layout.total));
    layout.Initialise(options.seed, values);
    RestoreParameters(values);
  } else {
    RestoreParameters(start.flat);
    start.flat = {};
  }
}

void LanguageTrainer::State::RestoreParameters(std::vector<float>& values) {
  optimiser->RestoreParameters(
      at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::kFloat));
  Refresh();
}

absl::StatusOr<Sums> LanguageTrainer::State::Run(const WeightedBatch& batch, bool with_gradients) {
  const BatchPass pass(networks,
                       {.device = device, .compute = compute(), .slice_tokens = slice_tokens()});
  Sums sums{};
  if (optimiser->divides_parameters()) {
    SHOAL_ASSIGN_OR_RETURN(sums, pass.UnitByUnit(batch, with_gradients, *optimiser));
  } else {
    if (with_gradients) optimiser->ClearGradients();
    sums = pass.SliceBySlice(batch, with_gradients);
    if (with_gradients) SHOAL_RETURN_IF_ERROR(optimiser->ReduceGradients());
  }
  SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<double>(sums)));
  return sums;
}

absl::StatusOr<StepReport> LanguageTrainer::State::Step(const WeightedBatch& batch,
                                                        double learning_rate) {
  SHOAL_ASSIGN_OR_RETURN(const Sums sums, Run(batch, true));
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
    SHOAL_ASSIGN_OR_RETURN(const Sums sums, state_->Run(batch, false));
    return ReportOf(sums);
  });
}

const Gpt2Config& LanguageTrainer::config() const { return state_->start.config; }
std::int64_t LanguageTrainer::steps() const { return state_->steps; }
std::int64_t LanguageTrainer::parameter_bytes() const {
  return state_->optimiser->parameter_bytes();
}
std::int64_t LanguageTrainer::moment_bytes() const { return state_->optimiser->moment_bytes(); }
std::int64_t LanguageTrainer::gradient_bytes() const { return state_->optimiser->gradient_bytes(); }

absl::StatusOr<Gpt2Parameters> LanguageTrainer::Parameters(Receivers receivers) {
  return model::GuardTorch("parameters", [&]() -> absl::StatusOr<Gpt2Parameters> {
    if (state_->adapts()) {
      // Nobody has to be asked for an adapter, which no rank divides.
      const bool receives = receivers == Receivers::kAll || state_->reducer.rank() == 0;
      if (!receives) return Gpt2Parameters{config(), {}};
      Gpt2Parameters merged = state_->start;
      SHOAL_ASSIGN_OR_RETURN(const auto adapter, Adapter());
      MergeLora(*adapter, merged);
      return merged;
    }
    SHOAL_ASSIGN_OR_RETURN(const at::Tensor flat, state_->optimiser->GatherParameters(receivers));
    return Gpt2Parameters{config(), model::OnHost(flat)};
  });
}

absl::StatusOr<std::optional<LoraParameters>> LanguageTrainer::Adapter() {
  if (!state_->adapts()) return std::nullopt;
  SHOAL_ASSIGN_OR_RETURN(const at::Tensor flat,
                         state_->optimiser->GatherParameters(Receivers::kAll));
  return LoraParameters{*state_->options.adapter, model::OnHost(flat)};
}

absl::Status LanguageTrainer::Save(training::Checkpoint& checkpoint) {
  return model::GuardTorch("checkpoint", [&]() -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(const auto moments,
                           state_->optimiser->GatherMoments(Receivers::kRankZero));
    SHOAL_ASSIGN_OR_RETURN(const at::Tensor parameters,
                           state_->optimiser->GatherParameters(Receivers::kRankZero));
    if (state_->reducer.rank() == 0) {
      SaveTrainer(state_->identity(), {state_->steps, parameters, moments}, checkpoint);
    }
    return absl::OkStatus();
  });
}

absl::Status LanguageTrainer::Restore(const training::Checkpoint& checkpoint) {
  SHOAL_ASSIGN_OR_RETURN(const TrainerSnapshot snapshot,
                         ReadTrainer(checkpoint, state_->identity(), state_->layout.total));
  return model::GuardTorch("restored parameters", [&] {
    state_->steps = snapshot.steps;
    state_->optimiser->RestoreParameters(snapshot.parameters);
    state_->optimiser->RestoreMoments(snapshot.moments);
    state_->Refresh();
    return absl::OkStatus();
  });
}

}  // namespace shoal::language
