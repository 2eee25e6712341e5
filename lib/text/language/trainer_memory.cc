// SPDX-License-Identifier: Apache-2.0
#include "text/language/trainer_memory.h"

#include <nlohmann/json.hpp>

#include "rl/collectives/rank_share.h"
#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

using training::ZeroStage;

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kRounded = 2;
constexpr std::int64_t kMaxOwnGradients = std::int64_t{1} << 26;

// The parameters of blocks, which bfloat16 rounds.
std::int64_t BlockParameters(const model::ParameterLayout& model) {
  return model.Find(std::string(kPrefix) + "ln_f.weight")->offset -
         model.Find(BlockPrefix(0) + "ln_1.weight")->offset;
}

}  // namespace

std::int64_t GradientArrays(const TrainerOptions& options, std::int64_t trained,
                            std::int64_t threads) {
  return options.device == "cpu" && trained <= kMaxOwnGradients ? threads : 1;
}

TrainerMemory EstimateTrainerMemory(const Gpt2Config& config, const TrainerOptions& options,
                                    const TrainerPlaces& places) {
  const model::ParameterLayout model = Gpt2Layout(config);
  const std::int64_t trained =
      options.adapter ? LoraLayout(config, *options.adapter).total : model.total;
  const std::int64_t arrays = GradientArrays(options, trained, places.threads);
  const auto share_of = [&](ZeroStage stage) {
    if (options.zero_stage < stage) return trained;
    return static_cast<std::int64_t>(
        collectives::ShareOf(static_cast<std::size_t>(trained), 0, places.ranks).size);
  };
  TrainerMemory memory{.parameters = model.total, .trained = trained};
  memory.parameter_bytes = kFloat * (model.total + (options.adapter ? trained : 0));
  memory.gradient_bytes = kFloat * trained * arrays;
  memory.kept_gradient_bytes = options.zero_stage < ZeroStage::kGradients || places.ranks == 1
                                   ? memory.gradient_bytes
                                   : kFloat * share_of(ZeroStage::kGradients);
  memory.moment_bytes = kFloat * share_of(ZeroStage::kOptimiser) *
                        (training::HasSecondMoment(options.optimiser.kind) ? 2 : 1);
  if (options.precision == runtime::DType::kBFloat16) {
    const std::int64_t rounded = kRounded * BlockParameters(model) * arrays;
    memory.parameter_bytes += rounded;
    if (!options.adapter) {
      memory.gradient_bytes += rounded;
      memory.kept_gradient_bytes += rounded;
    }
  }
  return memory;
}

std::string ToJson(const TrainerMemory& memory) {
  return nlohmann::json{{"parameters", memory.parameters},
                        {"trained", memory.trained},
                        {"parameter_bytes", memory.parameter_bytes},
                        {"gradient_bytes", memory.gradient_bytes},
                        {"kept_gradient_bytes", memory.kept_gradient_bytes},
                        {"moment_bytes", memory.moment_bytes}}
      .dump();
}

}  // namespace shoal::language
