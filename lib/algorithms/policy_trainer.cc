// SPDX-License-Identifier: Apache-2.0
#include "algorithms/policy_trainer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "algorithms/advantages.h"
#include "algorithms/batch_statistics.h"
#include "algorithms/batch_tensors.h"
#include "algorithms/policy_gradient.h"
#include "model/digest.h"
#include "model/parameter_layout.h"
#include "model/torch_threads.h"
#include "runtime/random.h"
#include "training/adam.h"
#include "training/checkpoint.h"
#include "training/schedule.h"
#include "training/stopwatch.h"

namespace shoal::algorithms {
namespace {

constexpr std::int64_t kKeptCheckpoints = 3;
constexpr const char* kParametersFile = "parameters.safetensors";
constexpr const char* kOptimiserFile = "optimiser.safetensors";
constexpr const char* kCountersFile = "counters.json";

// Floats after the gradient that carry a minibatch's sums through the same reduction.
constexpr std::int64_t kSumFloats = 16;

std::span<float> Floats(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

struct PolicyTrainer::State {
  State(const model::PolicySpec& policy_spec, const AlgorithmOptions& algorithm,
        std::uint64_t run_seed, collectives::GradientReducer& group)
      : spec(policy_spec),
        options(algorithm),
        seed(run_seed),
        reducer(group),
        layout(model::ParameterLayout::Of(policy_spec)),
        flat(at::zeros({layout.total}, at::kFloat)),
        reduced(at::zeros({layout.trainable + kSumFloats}, at::kFloat)),
        gradient(spec, layout, options, flat, reduced.narrow(0, 0, layout.trainable)),
        adam({.epsilon = options.adam_epsilon, .weight_decay = options.weight_decay},
             static_cast<std::size_t>(layout.trainable)),
        rate(options.learning_rate) {
    layout.Initialise(seed, Floats(flat));
  }

  const model::PolicySpec spec;
  const AlgorithmOptions options;
  const std::uint64_t seed;
  collectives::GradientReducer& reducer;
  const model::ParameterLayout layout;
  // [total].
  const at::Tensor flat;
  // [trainable + kSumFloats].
  const at::Tensor reduced;
  PolicyGradient gradient;
  training::Adam adam;
  std::int64_t updates = 0;
  // Of the next update.
  double rate;

  std::span<float> trainable() const {
    return Floats(flat).first(static_cast<std::size_t>(layout.trainable));
  }
  std::vector<std::int64_t> Order(const UpdateData& data, std::int64_t pass) const;
  absl::Status Step(const UpdateData& data, std::span<const std::int64_t> items,
                    MinibatchSums& pass_sums, UpdateReport& report);
  absl::Status Passes(const UpdateData& data, UpdateReport& report);
  absl::StatusOr<UpdateReport> Update(const UnrollBatch& batch);
  absl::StatusOr<std::string> Restore(const training::Checkpoint& checkpoint);
};

// Rows with weight (columns, with a core) in an order that is a function of (seed, update, pass,
// rank).
std::vector<std::int64_t> PolicyTrainer::State::Order(const UpdateData& data,
                                                      std::int64_t pass) const {
  std::vector<std::int64_t> items;
  if (spec.has_core()) {
    items.resize(static_cast<std::size_t>(data.batch.columns));
    std::iota(items.begin(), items.end(), 0);
  } else {
    for (std::size_t row = 0; row < data.advantages.weight.size(); ++row) {
      if (data.advantages.weight[row] > 0) items.push_back(static_cast<std::int64_t>(row));
    }
  }
  const std::string purpose =
      "minibatches of rank " + std::to_string(reducer.rank()) + " in pass " + std::to_string(pass);
  runtime::Random random(runtime::DeriveSeed(seed, purpose), static_cast<std::uint64_t>(updates));
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.Below(i)]);
  }
  return items;
}

absl::Status PolicyTrainer::State::Step(const UpdateData& data, std::span<const std::int64_t> items,
                                        MinibatchSums& pass_sums, UpdateReport& report) {
  training::Stopwatch watch;
  const std::span<float> values = Floats(reduced);
  std::fill(values.begin(), values.end(), 0.0F);
  MinibatchSums sums = gradient.Add(data, items);
  const auto gradients = values.first(static_cast<std::size_t>(layout.trainable));
  const auto tail = values.subspan(gradients.size());
  for (std::size_t i = 0; i < sums.values.size(); ++i) tail[i] = static_cast<float>(sums.values[i]);
  report.gradient_seconds += watch.Lap();
  SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(values));
  report.reduce_seconds += watch.Lap();
  for (std::size_t i = 0; i < sums.values.size(); ++i) {
    sums.values[i] = tail[i];
    pass_sums.values[i] += sums.values[i];
  }
  if (sums.weight() <= 0) return absl::OkStatus();
  const auto scale = static_cast<float>(1 / sums.weight());
  for (float& g : gradients) g *= scale;
  const double norm = training::ClipByNorm(gradients, options.max_gradient_norm);
  if (!std::isfinite(norm)) return runtime::Internal("the gradient is not finite");
  report.gradient_norm += norm;
  adam.Step(rate, gradients, trainable());
  report.step_seconds += watch.Lap();
  return absl::OkStatus();
}

absl::Status PolicyTrainer::State::Passes(const UpdateData& data, UpdateReport& report) {
  const bool ppo = options.name == "ppo";
  const std::int64_t passes = ppo ? options.passes : 1;
  const auto minibatches = static_cast<std::size_t>(ppo ? options.minibatches : 1);
  MinibatchSums all;
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    const std::vector<std::int64_t> order = Order(data, pass);
    MinibatchSums sums;
    for (std::size_t m = 0; m < minibatches; ++m) {
      const std::size_t begin = order.size() * m / minibatches;
      const std::size_t end = order.size() * (m + 1) / minibatches;
      SHOAL_RETURN_IF_ERROR(Step(data, std::span(order).subspan(begin, end - begin), sums, report));
    }
    for (std::size_t i = 0; i < all.values.size(); ++i) all.values[i] += sums.values[i];
    ++report.passes;
    if (sums.weight() > 0) report.approximate_kl = sums.kl() / sums.weight();
    if (options.kl_stop > 0 && report.approximate_kl > options.kl_stop) break;
  }
  const double weight = std::max(all.weight(), 1e-9);
  report.policy_loss = all.policy_loss() / weight;
  report.value_loss = all.value_loss() / weight;
  report.entropy = all.entropy() / weight;
  report.clip_fraction = all.clipped() / weight;
  report.gradient_norm /= static_cast<double>(report.passes) * static_cast<double>(minibatches);
  return absl::OkStatus();
}

absl::StatusOr<UpdateReport> PolicyTrainer::State::Update(const UnrollBatch& batch) {
  training::Stopwatch watch;
  UpdateReport report;
  if (options.schedule == "linear") {
    rate = training::LinearRate(options.learning_rate, updates, options.schedule_updates);
  }
  report.update = updates + 1;
  report.learning_rate = rate;
  Advantages advantages =
      EstimateAdvantages(batch, {.gamma = options.gamma,
                                 .lambda = options.name == "ppo" ? options.lambda : 1.0,
                                 .reward_scale = options.reward_scale});
  SHOAL_RETURN_IF_ERROR(
      ReduceStatistics(batch, reducer, options.normalise_advantages, advantages, report));
  const BatchTensors tensors = MakeBatchTensors(batch, spec, advantages.weight);
  report.estimate_seconds = watch.Lap();
  const std::vector<float> parameters_before(trainable().begin(), trainable().end());
  const training::Adam::Moments moments_before = adam.moments();
  const absl::Status passed =
      Passes({.batch = batch, .tensors = tensors, .advantages = advantages}, report);
  if (!passed.ok()) {
    std::copy(parameters_before.begin(), parameters_before.end(), trainable().begin());
    adam.Restore(moments_before);
    return passed;
  }
  ++updates;
  if (options.schedule == "kl" && report.rows > 0) {
    rate = training::KlAdaptiveRate(rate, report.approximate_kl, options.kl_target);
  }
  return report;
}

PolicyTrainer::PolicyTrainer(std::unique_ptr<State> state) : state_(std::move(state)) {}
PolicyTrainer::~PolicyTrainer() = default;

absl::StatusOr<std::unique_ptr<PolicyTrainer>> PolicyTrainer::Create(
    const model::PolicySpec& spec, const AlgorithmOptions& options, std::uint64_t seed,
    collectives::GradientReducer& reducer) {
  SHOAL_RETURN_IF_ERROR(spec.Validate());
  if (options.passes < 1 || options.minibatches < 1) {
    return runtime::InvalidArgument("algorithm.passes, algorithm.minibatches: at least 1");
  }
  try {
    model::ApplyTorchThreads();
    auto state = std::make_unique<State>(spec, options, seed, reducer);
    return std::unique_ptr<PolicyTrainer>(new PolicyTrainer(std::move(state)));
  } catch (const std::exception& error) {
    return runtime::Internal(std::string("policy trainer: ") + error.what());
  }
}

absl::StatusOr<UpdateReport> PolicyTrainer::Update(const UnrollBatch& batch) {
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->spec));
  try {
    return state_->Update(batch);
  } catch (const std::exception& error) {
    return runtime::Internal(std::string("update: ") + error.what());
  }
}

absl::StatusOr<std::string> PolicyTrainer::SerializeParameters(
    const model::Metadata& metadata) const {
  return state_->layout.Write(Floats(state_->flat), state_->spec, metadata);
}

std::string PolicyTrainer::Digest() const {
  const auto bytes = std::as_bytes(Floats(state_->flat));
  return model::HexSha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::int64_t PolicyTrainer::updates() const { return state_->updates; }

absl::Status PolicyTrainer::Save(const std::string& folder, const std::string& note) const {
  const training::Adam::Moments& moments = state_->adam.moments();
  const runtime::Shape shape = {state_->layout.trainable};
  const std::vector<model::SafetensorsItem> items = {
      {"first_moment", {runtime::DType::kFloat32, shape, std::as_bytes(std::span(moments.first))}},
      {"second_moment",
       {runtime::DType::kFloat32, shape, std::as_bytes(std::span(moments.second))}}};
  const nlohmann::json counters = {{"updates", state_->updates},
                                   {"optimiser_steps", moments.steps},
                                   {"learning_rate", state_->rate},
                                   {"seed", state_->seed},
                                   {"note", note}};
  training::Checkpoint checkpoint;
  checkpoint.number = state_->updates;
  checkpoint.files[kParametersFile] = state_->layout.Write(Floats(state_->flat), state_->spec, {});
  checkpoint.files[kOptimiserFile] = model::WriteSafetensors(items, {});
  checkpoint.files[kCountersFile] =
      counters.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return training::WriteCheckpoint(folder, checkpoint, kKeptCheckpoints);
}

absl::StatusOr<std::string> PolicyTrainer::State::Restore(const training::Checkpoint& checkpoint) {
  const auto file = [&](const char* name) -> std::string_view {
    const auto found = checkpoint.files.find(name);
    return found == checkpoint.files.end() ? std::string_view() : found->second;
  };
  const auto counters = nlohmann::json::parse(file(kCountersFile), nullptr, false);
  if (!counters.is_object()) return runtime::DataLoss("checkpoint: counters.json is no object");
  training::Adam::Moments moments;
  SHOAL_ASSIGN_OR_RETURN(const auto view, model::SafetensorsView::Parse(file(kOptimiserFile)));
  const runtime::Shape shape = {layout.trainable};
  std::vector<float> read(static_cast<std::size_t>(layout.total));
  SHOAL_RETURN_IF_ERROR(layout.Read(file(kParametersFile), spec, read));
  SHOAL_ASSIGN_OR_RETURN(moments.first, view.Floats("first_moment", shape));
  SHOAL_ASSIGN_OR_RETURN(moments.second, view.Floats("second_moment", shape));
  moments.steps = counters.at("optimiser_steps").get<std::int64_t>();
  const auto updates_read = counters.at("updates").get<std::int64_t>();
  const auto rate_read = counters.at("learning_rate").get<double>();
  std::string note = counters.at("note").get<std::string>();
  std::copy(read.begin(), read.end(), Floats(flat).begin());
  adam.Restore(std::move(moments));
  updates = updates_read;
  if (options.schedule == "kl") rate = rate_read;
  return note;
}

absl::StatusOr<std::string> PolicyTrainer::Load(const std::string& folder) {
  SHOAL_ASSIGN_OR_RETURN(const training::Checkpoint checkpoint,
                         training::ReadNewestCheckpoint(folder));
  try {
    return state_->Restore(checkpoint);
  } catch (const std::exception& error) {
    return runtime::DataLoss(std::string("checkpoint: ") + error.what());
  }
}

}  // namespace shoal::algorithms
