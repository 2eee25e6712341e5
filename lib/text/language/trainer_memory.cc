// SPDX-License-Identifier: Apache-2.0
#include "text/language/trainer_memory.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "rl/collectives/rank_share.h"
#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

using training::ZeroStage;

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kRounded = 2;
constexpr std::int64_t kMaxOwnGradients = std::int64_t{1} << 26;

// What the largest rank keeps of the trained parameters.
std::int64_t LargestShare(const std::vector<std::int64_t>& units, std::int64_t ranks) {
  std::int64_t share = 0;
  for (const std::int64_t size : units) {
    share += static_cast<std::int64_t>(
        collectives::ShareOf(static_cast<std::size_t>(size), 0, ranks).size);
  }
  return share;
}

// Replaces what stage 3 divides: a rank has its share, and units while they run.
void DivideParameters(const std::vector<std::int64_t>& units, std::int64_t share,
                      std::int64_t arrays, std::int64_t rounded, TrainerMemory& memory) {
  const std::int64_t embeddings = units.front();
  const std::int64_t block = units[1];
  const std::int64_t last_norm = units.back();
  memory.kept_parameter_bytes = kFloat * share;
  memory.kept_gradient_bytes = kFloat * share;
  memory.parameter_bytes = kFloat * share + std::max(kFloat * (embeddings + last_norm),
                                                     kFloat * block + rounded * block * arrays);
  memory.gradient_bytes = kFloat * share + kFloat * arrays * embeddings +
                          arrays * std::max(kFloat * last_norm, (kFloat + rounded) * block);
}

std::int64_t ActivationBytes(const Gpt2Config& config, const TrainerOptions& options,
                             std::int64_t batch_tokens, std::int64_t threads, bool by_unit) {
  const bool gpu = options.device != "cpu";
  const std::int64_t own = options.tensor_parallel;
  const std::int64_t width = config.width;
  const std::int64_t rounded = options.precision == runtime::DType::kBFloat16 ? kRounded : kFloat;
  std::int64_t slice = options.SliceTokens(!gpu);
  if (batch_tokens > 0) slice = std::min(slice, batch_tokens);
  // Of a token: what comes into a block, and what a block keeps for its backward pass. These are
  // both inputs of norms with their means and deviations, both norms' results, queries, keys and
  // values, what attention gives (on a CPU twice, since its heads are put together), and the wide
  // layer before and after its function.
  const std::int64_t input = kFloat * width;
  const std::int64_t block = kFloat * (2 * width + 4 + config.heads / own) +
                             rounded * (2 * width + (gpu ? 12 : 13) * width / own);
  // Of a token, after the blocks: the last hidden state, its norm, and the gradients of both.
  const std::int64_t last = 2 * (input + rounded * width);
  const std::int64_t loss_rows = std::min<std::int64_t>(slice, gpu ? 8192 : 1024);
  const std::int64_t embedding = options.adapter ? 0 : kFloat * config.vocabulary_size * width;
  const std::int64_t copied = rounded == kFloat ? 0 : rounded * config.vocabulary_size * width;
  const std::int64_t loss =
      2 * rounded * config.vocabulary_size * loss_rows + embedding + 2 * copied;
  const bool again = options.checkpoint_blocks || by_unit;
  const std::int64_t kept = by_unit ? 0 : slice * config.layers * (again ? input : block);
  const std::int64_t backward = (again ? slice * block : 0) + 2 * embedding;
  const std::int64_t all_inputs =
      by_unit ? std::max(batch_tokens, slice) * config.layers * input : 0;
  return all_inputs + threads * (kept + slice * last + std::max(loss, backward));
}

}  // namespace

std::int64_t GradientArrays(const TrainerOptions& options, std::int64_t trained,
                            std::int64_t threads) {
  const bool own = options.device == "cpu" && options.tensor_parallel == 1;
  return own && trained <= kMaxOwnGradients ? threads : 1;
}

TrainerMemory EstimateTrainerMemory(const Gpt2Config& config, const TrainerOptions& options,
                                    const TrainerPlaces& places) {
  // What tensor parallelism leaves to a rank, and the ranks that divide the same by stages of ZeRO.
  const std::vector<std::int64_t> model_units = Gpt2Units(config, options.tensor_parallel);
  const std::int64_t model = Gpt2Layout(config, options.tensor_parallel).total;
  const std::int64_t ranks = places.ranks / options.tensor_parallel;
  const std::vector<std::int64_t> units = TrainedUnits(config, options);
  const std::int64_t trained = std::accumulate(units.begin(), units.end(), std::int64_t{0});
  const std::int64_t arrays = GradientArrays(options, trained, places.threads);
  const std::int64_t share = LargestShare(units, ranks);
  const auto divides = [&](ZeroStage stage) { return options.zero_stage >= stage && ranks > 1; };
  // Bytes of the rounded copy of a block's parameter.
  const std::int64_t rounded = options.precision == runtime::DType::kBFloat16 ? kRounded : 0;
  const std::int64_t parameters = Gpt2Layout(config).total;
  TrainerMemory memory{.parameters = parameters, .trained = options.adapter ? trained : parameters};
  memory.moment_bytes = kFloat * (divides(ZeroStage::kOptimiser) ? share : trained) *
                        (training::HasSecondMoment(options.optimiser.kind) ? 2 : 1);
  if (options.compress_gradients && ranks > 1) {
    memory.residual_bytes =
        kFloat * trained + kRounded * *std::max_element(units.begin(), units.end());
  }
  if (divides(ZeroStage::kParameters)) {
    DivideParameters(units, share, arrays, rounded, memory);
    memory.activation_bytes =
        ActivationBytes(config, options, places.batch_tokens, arrays, /*by_unit=*/true);
    return memory;
  }
  memory.activation_bytes =
      ActivationBytes(config, options, places.batch_tokens, arrays, /*by_unit=*/false);
  const std::int64_t blocks = model - model_units.front() - model_units.back();
  const std::int64_t rounded_bytes = rounded * blocks * arrays;
  const std::int64_t rounded_gradients = options.adapter ? 0 : rounded_bytes;
  memory.parameter_bytes = kFloat * (model + (options.adapter ? trained : 0)) + rounded_bytes;
  memory.gradient_bytes = kFloat * trained * arrays + rounded_gradients;
  memory.kept_parameter_bytes = memory.parameter_bytes;
  memory.kept_gradient_bytes =
      divides(ZeroStage::kGradients) ? kFloat * share + rounded_gradients : memory.gradient_bytes;
  return memory;
}

std::vector<std::int64_t> TrainedUnits(const Gpt2Config& config, const TrainerOptions& options) {
  if (options.adapter) return {LoraLayout(config, *options.adapter).total};
  return Gpt2Units(config, options.tensor_parallel);
}

std::string ToJson(const TrainerMemory& memory) {
  return nlohmann::json{{"parameters", memory.parameters},
                        {"trained", memory.trained},
                        {"parameter_bytes", memory.parameter_bytes},
                        {"gradient_bytes", memory.gradient_bytes},
                        {"kept_parameter_bytes", memory.kept_parameter_bytes},
                        {"kept_gradient_bytes", memory.kept_gradient_bytes},
                        {"moment_bytes", memory.moment_bytes},
                        {"residual_bytes", memory.residual_bytes},
                        {"activation_bytes", memory.activation_bytes}}
      .dump();
}

}  // namespace shoal::language
