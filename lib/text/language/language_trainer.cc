// SPDX-License-Identifier: Apache-2.0
#include "text/language/language_trainer.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "rl/model/torch_device.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"
#include "rl/training/tensor_memory.h"
#include "rl/training/zero_optimiser.h"
#include "text/language/batch_pass.h"
#include "text/language/gpt2_layout.h"
#include "text/language/gpt2_network.h"
#include "text/language/precision.h"
#include "text/language/rank_grid.h"
#include "text/language/tensor_shards.h"
#include "text/language/trainer_checkpoint.h"
#include "text/language/trainer_memory.h"

namespace shoal::language {
namespace {

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

std::int64_t TrainerOptions::SliceTokens(bool on_cpu) const {
  if (slice_tokens > 0) return slice_tokens;
  return on_cpu ? kCpuSlice : kGpuSlice;
}

absl::Status TrainerOptions::Validate() const {
  SHOAL_RETURN_IF_ERROR(optimiser.Validate());
  if (adapter) {
    SHOAL_RETURN_IF_ERROR(adapter->Validate());
    if (zero_stage >= training::ZeroStage::kParameters) {
      return runtime::InvalidArgument(
          "ZeRO stage 3 divides parameters that are trained, not those below an adapter");
    }
    if (tensor_parallel > 1) {
      return runtime::InvalidArgument(
          "tensor parallelism divides matrices that are trained, not those below an adapter");
    }
  }
  if (compress_gradients && zero_stage >= training::ZeroStage::kGradients) {
    return runtime::InvalidArgument(
        "ZeRO stages 2 and 3 divide gradients, but what rounding takes of compressed ones is as "
        "large as all of them");
  }
  if (tensor_parallel < 1) {
    return runtime::InvalidArgument("tensor parallelism of " + std::to_string(tensor_parallel) +
                                    " ranks is less than 1");
  }
  SHOAL_RETURN_IF_ERROR(ComputeTypeOf(precision).status());
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

absl::Status TrainerOptions::ValidateFor(const Gpt2Config& config, std::int64_t ranks) const {
  SHOAL_RETURN_IF_ERROR(Validate());
  if (config.heads % tensor_parallel != 0) {
    return runtime::InvalidArgument("tensor parallelism of " + std::to_string(tensor_parallel) +
                                    " ranks does not divide the model's " +
                                    std::to_string(config.heads) + " heads evenly");
  }
  if (ranks % tensor_parallel != 0) {
    return runtime::InvalidArgument("tensor parallelism of " + std::to_string(tensor_parallel) +
                                    " ranks needs a multiple of so many, but there are " +
                                    std::to_string(ranks));
  }
  return absl::OkStatus();
}

struct LanguageTrainer::State {
  State(Gpt2Parameters from, const TrainerOptions& trainer, at::Device where,
        std::unique_ptr<RankGrid> ranks);

  const TrainerOptions options;
  const std::unique_ptr<RankGrid> grid;
  const at::Device device;
  // The model at the start. Its `flat` is kept only with an adapter, which leaves it unchanged.
  Gpt2Parameters start;
  const TensorShards shards;
  // The layout of the parameters that this rank trains.
  const model::ParameterLayout layout;
  BatchPass::Networks networks;
  std::unique_ptr<training::ZeroOptimiser> optimiser;
  std::int64_t steps = 0;

  bool adapts() const { return options.adapter.has_value(); }
  // Whether parameters are divided among the ranks.
  bool by_unit() const {
    return options.zero_stage >= training::ZeroStage::kParameters && grid->data().world_size() > 1;
  }
  // REQUIRES: the options are valid.
  at::ScalarType compute() const { return *ComputeTypeOf(options.precision); }
  // The number of the parameters that all tensor-parallel ranks train.
  std::int64_t trained() const { return adapts() ? layout.total : shards.whole().total; }
  // Returns what this rank has of an array of them, which is on the CPU.
  at::Tensor Own(const at::Tensor& whole) const;
  void RestoreParameters(const at::Tensor& whole);
  void RestoreParameters(std::vector<float>& whole);
  // Returns what `call` returns; where a network has thrown because ranks could not meet, the error
  // of that.
  template <typename Call>
  auto Guard(const char* what, const Call& call) -> decltype(call()) {
    auto result = model::GuardTorch(what, call);
    if (result.ok() || grid->failure().ok()) return result;
    return grid->failure();
  }
  bool overlaps() const {
    return options.overlap_sums && !adapts() && grid->tensor() == nullptr &&
           grid->data().world_size() > 1;
  }
  // Leaves the sum of the gradients over the ranks.
  absl::StatusOr<Sums> Differentiate(const BatchPass& pass, const WeightedBatch& batch,
                                     StepReport& report);
  // Evaluates if there is no `step`, whose gradients it leaves otherwise.
  absl::StatusOr<Sums> Run(const WeightedBatch& batch, StepReport* step);
  // Call it after parameters have changed.
  void Refresh() {
    if (optimiser->divides_parameters()) return;
    for (const auto& network : networks) network->Refresh();
  }
  absl::StatusOr<StepReport> Step(const WeightedBatch& batch, double learning_rate);
  TrainerIdentity identity() const { return {start.config.ToJson(), options.optimiser.kind}; }
};

LanguageTrainer::State::State(Gpt2Parameters from, const TrainerOptions& trainer, at::Device where,
                              std::unique_ptr<RankGrid> ranks)
    : options(trainer),
      grid(std::move(ranks)),
      device(where),
      start(std::move(from)),
      shards(start.config, options.tensor_parallel),
      layout(options.adapter ? LoraLayout(start.config, *options.adapter) : shards.shard()) {
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
  training::Replicas replicas{.group = grid->tensor()};
  for (std::size_t i = 0; grid->tensor() != nullptr && i < layout.parameters.size(); ++i) {
    if (shards.replicated(i)) replicas.parts.push_back(arrays.parts[i]);
  }
  const NetworkOptions network{.compute = compute(),
                               .checkpoint = options.checkpoint_blocks && !by_unit(),
                               .by_unit = by_unit(),
                               .tensor_ranks = options.tensor_parallel,
                               .tensor_sum = grid->SumOverTensorRanks()};
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
  optimiser = std::make_unique<training::ZeroOptimiser>(
      options.optimiser, options.zero_stage, std::move(arrays), grid->data(), std::move(replicas));
  if (options.compress_gradients) optimiser->CompressGradients();
  if (adapts()) {
    std::vector<float> values(static_cast<std::size_t>(layout.total));
    layout.Initialise(options.seed, values);
    RestoreParameters(values);
  } else {
    RestoreParameters(start.flat);
    start.flat = {};
  }
}

at::Tensor LanguageTrainer::State::Own(const at::Tensor& whole) const {
  if (grid->tensor() == nullptr) return whole;
  const std::span values(whole.const_data_ptr<float>(), static_cast<std::size_t>(whole.numel()));
  return model::OnDevice(shards.ShardOf(values, grid->place().tensor_rank), at::kCPU);
}

void LanguageTrainer::State::RestoreParameters(const at::Tensor& whole) {
  optimiser->RestoreParameters(Own(whole));
  Refresh();
}

void LanguageTrainer::State::RestoreParameters(std::vector<float>& whole) {
  RestoreParameters(
      at::from_blob(whole.data(), {static_cast<std::int64_t>(whole.size())}, at::kFloat));
}

absl::StatusOr<Sums> LanguageTrainer::State::Differentiate(const BatchPass& pass,
                                                           const WeightedBatch& batch,
                                                           StepReport& report) {
  optimiser->ClearGradients();
  if (!overlaps()) {
    const Sums sums = pass.SliceBySlice(batch, true);
    SHOAL_RETURN_IF_ERROR(optimiser->ReduceGradients());
    return sums;
  }
  const auto of_ranks = optimiser->BeginSums(pass.threads(batch));
  const Sums sums = pass.SliceBySlice(batch, *of_ranks);
  SHOAL_RETURN_IF_ERROR(of_ranks->Finish());
  report.overlapped_seconds = of_ranks->overlapped_seconds();
  return sums;
}

absl::StatusOr<Sums> LanguageTrainer::State::Run(const WeightedBatch& batch, StepReport* step) {
  const BatchPass pass(networks, {.device = device,
                                  .compute = compute(),
                                  .slice_tokens = options.SliceTokens(device.is_cpu())});
  Sums sums{};
  if (optimiser->divides_parameters()) {
    SHOAL_ASSIGN_OR_RETURN(sums, pass.UnitByUnit(batch, step != nullptr, *optimiser));
  } else if (step != nullptr) {
    SHOAL_ASSIGN_OR_RETURN(sums, Differentiate(pass, batch, *step));
  } else {
    sums = pass.SliceBySlice(batch, false);
  }
  SHOAL_RETURN_IF_ERROR(grid->data().AllReduceSum(std::span<double>(sums)));
  // Ranks decide by these numbers, so they have to be the same bits on all of them.
  if (grid->tensor() != nullptr) {
    SHOAL_RETURN_IF_ERROR(grid->tensor()->Broadcast(std::as_writable_bytes(std::span(sums))));
  }
  return sums;
}

absl::StatusOr<StepReport> LanguageTrainer::State::Step(const WeightedBatch& batch,
                                                        double learning_rate) {
  StepReport report{.step = steps + 1};
  SHOAL_ASSIGN_OR_RETURN(const Sums sums, Run(batch, &report));
  report.loss = ReportOf(sums);
  if (report.loss.targets > 0) {
    SHOAL_ASSIGN_OR_RETURN(const double norm, optimiser->GradientNorm());
    report.gradient_norm = norm / sums[1];
    if (!std::isfinite(report.gradient_norm)) {
      optimiser->DropResiduals();
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
  SHOAL_RETURN_IF_ERROR(options.ValidateFor(start.config, reducer.world_size()));
  if (static_cast<std::int64_t>(start.flat.size()) != Gpt2Layout(start.config).total) {
    return runtime::InvalidArgument("parameters are of another config");
  }
  SHOAL_ASSIGN_OR_RETURN(const at::Device device, model::FindDevice(options.device));
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<RankGrid> grid,
                         RankGrid::Create(reducer, options.tensor_parallel));
  return model::GuardTorch("trainer", [&]() -> absl::StatusOr<std::unique_ptr<LanguageTrainer>> {
    return std::unique_ptr<LanguageTrainer>(new LanguageTrainer(
        std::make_unique<State>(std::move(start), options, device, std::move(grid))));
  });
}

absl::StatusOr<StepReport> LanguageTrainer::Step(const WeightedBatch& batch, double learning_rate) {
  SHOAL_RETURN_IF_ERROR(CheckBatch(batch, config()));
  return state_->Guard("training step", [&] { return state_->Step(batch, learning_rate); });
}

absl::StatusOr<LossReport> LanguageTrainer::Evaluate(const WeightedBatch& batch) {
  SHOAL_RETURN_IF_ERROR(CheckBatch(batch, config()));
  return state_->Guard("evaluation", [&]() -> absl::StatusOr<LossReport> {
    SHOAL_ASSIGN_OR_RETURN(const Sums sums, state_->Run(batch, nullptr));
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
std::int64_t LanguageTrainer::residual_bytes() const { return state_->optimiser->residual_bytes(); }

absl::StatusOr<Gpt2Parameters> LanguageTrainer::Parameters(Receivers receivers) {
  return model::GuardTorch("parameters", [&]() -> absl::StatusOr<Gpt2Parameters> {
    if (state_->adapts()) {
      // Nobody has to be asked for an adapter, which no rank divides.
      const bool receives = receivers == Receivers::kAll || state_->grid->all().rank() == 0;
      if (!receives) return Gpt2Parameters{config(), {}};
      Gpt2Parameters merged = state_->start;
      SHOAL_ASSIGN_OR_RETURN(const auto adapter, Adapter());
      MergeLora(*adapter, merged);
      return merged;
    }
    SHOAL_ASSIGN_OR_RETURN(const at::Tensor own, state_->optimiser->GatherParameters(receivers));
    SHOAL_ASSIGN_OR_RETURN(const at::Tensor flat,
                           state_->grid->GatherWhole(state_->shards, own, receivers));
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
    SHOAL_ASSIGN_OR_RETURN(auto moments, state_->optimiser->GatherMoments(Receivers::kRankZero));
    SHOAL_ASSIGN_OR_RETURN(at::Tensor parameters,
                           state_->optimiser->GatherParameters(Receivers::kRankZero));
    state_->optimiser->DropResiduals();
    std::vector<at::Tensor*> arrays = {&parameters, &moments.first};
    if (training::HasSecondMoment(state_->options.optimiser.kind)) {
      arrays.push_back(&moments.second);
    }
    for (at::Tensor* const array : arrays) {
      SHOAL_ASSIGN_OR_RETURN(
          *array, state_->grid->GatherWhole(state_->shards, *array, Receivers::kRankZero));
    }
    if (state_->grid->all().rank() == 0) {
      SaveTrainer(state_->identity(), {state_->steps, parameters, moments}, checkpoint);
    }
    return absl::OkStatus();
  });
}

absl::Status LanguageTrainer::Restore(const training::Checkpoint& checkpoint) {
  SHOAL_ASSIGN_OR_RETURN(const TrainerSnapshot snapshot,
                         ReadTrainer(checkpoint, state_->identity(), state_->trained()));
  return model::GuardTorch("restored parameters", [&] {
    const training::FlatOptimiser::Moments& moments = snapshot.moments;
    const bool squares = training::HasSecondMoment(state_->options.optimiser.kind);
    state_->steps = snapshot.steps;
    state_->optimiser->DropResiduals();
    state_->optimiser->RestoreMoments({state_->Own(moments.first),
                                       squares ? state_->Own(moments.second) : moments.second,
                                       moments.steps});
    state_->RestoreParameters(snapshot.parameters);
    return absl::OkStatus();
  });
}

void LanguageTrainer::Abort(const absl::Status& reason) { state_->grid->Abort(reason); }

}  // namespace shoal::language
