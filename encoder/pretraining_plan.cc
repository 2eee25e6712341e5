// SPDX-License-Identifier: Apache-2.0
#include "encoder/pretraining_plan.h"

#include <algorithm>
#include <string>

#include "rl/model/compute_device.h"
#include "text/language/vocabulary_resize.h"

namespace shoal::encoder {
namespace {

absl::StatusOr<TokenChoice> ParseFixed(const char* flag, const std::string& text) {
  SHOAL_ASSIGN_OR_RETURN(const TokenChoice choice, TokenChoice::Parse(text));
  if (!choice.random) return choice;
  return runtime::InvalidArgument(std::string(flag) + " takes no random spans");
}

}  // namespace

absl::StatusOr<PretrainingPlan> PretrainingPlan::Of(const PretrainingOptions& options) {
  PretrainingPlan plan;
  SHOAL_ASSIGN_OR_RETURN(plan.loss, Curriculum::Parse(options.loss));
  SHOAL_ASSIGN_OR_RETURN(plan.attention, ParseFixed("--attention", options.attention));
  plan.evaluation = plan.loss.last().choice;
  if (plan.evaluation.random) plan.evaluation = {.all = true};
  if (!options.evaluate_on.empty()) {
    SHOAL_ASSIGN_OR_RETURN(plan.evaluation, ParseFixed("--evaluate-on", options.evaluate_on));
  }
  plan.rate = {.peak = options.learning_rate, .warmup = options.warmup, .floor = options.floor};
  SHOAL_ASSIGN_OR_RETURN(plan.rate.shape, training::ParseRateShape(options.schedule));
  SHOAL_RETURN_IF_ERROR(plan.rate.Validate());
  SHOAL_ASSIGN_OR_RETURN(plan.weights, options.WeightsType());
  return plan;
}

absl::StatusOr<language::Gpt2Config> ConfigOf(const PretrainingOptions& options,
                                              std::int64_t vocabulary_size) {
  if (!options.model.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const auto model, language::ReadGpt2Folder(options.model));
    language::Gpt2Config config = model.config;
    config.vocabulary_size = std::max(config.vocabulary_size, vocabulary_size);
    return config;
  }
  SHOAL_ASSIGN_OR_RETURN(auto config, language::Gpt2Config::Preset(options.preset));
  config.vocabulary_size = vocabulary_size;
  config.begin_token = -1;
  config.end_token = -1;
  if (options.positions > 0) config.positions = options.positions;
  return config;
}

absl::StatusOr<language::Gpt2Parameters> StartOf(const PretrainingOptions& options,
                                                 const TrainingMaterial& material) {
  language::Gpt2Parameters start;
  if (options.model.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const auto config, ConfigOf(options, material.vocabulary_size));
    SHOAL_ASSIGN_OR_RETURN(start, language::InitialGpt2(config, options.seed));
  } else {
    SHOAL_ASSIGN_OR_RETURN(start, language::ReadGpt2Folder(options.model));
    if (start.config.vocabulary_size < material.vocabulary_size) {
      SHOAL_ASSIGN_OR_RETURN(
          start, language::ResizeVocabulary(start, material.vocabulary_size, options.seed));
    }
  }
  if (material.longest > start.config.positions) {
    return runtime::InvalidArgument("texts of " + std::to_string(material.longest) +
                                    " tokens; the model takes " +
                                    std::to_string(start.config.positions));
  }
  return start;
}

absl::StatusOr<language::TrainerOptions> TrainerOptionsOf(const PretrainingOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const model::ComputeDevice device,
                         model::FindComputeDevice(options.device, options.local_rank));
  language::TrainerOptions trainer{
      .device = device.name,
      .precision = options.bfloat16 ? runtime::DType::kBFloat16 : runtime::DType::kFloat32,
      .checkpoint_blocks = options.checkpoint_blocks,
      .slice_tokens = options.slice_tokens,
      .max_gradient_norm = options.max_gradient_norm,
      .optimiser = {.beta1 = options.beta1,
                    .beta2 = options.beta2,
                    .weight_decay = options.weight_decay},
      .zero_stage = static_cast<training::ZeroStage>(options.zero_stage),
      .overlap_sums = options.overlap,
      .compress_gradients = options.compress == "bfloat16",
      .tensor_parallel = options.tensor_parallel,
      .seed = options.seed};
  SHOAL_ASSIGN_OR_RETURN(trainer.optimiser.kind, training::ParseOptimiser(options.optimiser));
  if (options.lora_rank > 0) {
    trainer.adapter = language::LoraOptions{.rank = options.lora_rank, .alpha = options.lora_alpha};
  }
  return trainer;
}

}  // namespace shoal::encoder
