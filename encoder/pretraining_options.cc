// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "encoder/pretraining.h"

namespace shoal::encoder {
namespace {

absl::Status AtLeast(const char* flag, std::int64_t value, std::int64_t least) {
  if (value >= least) return absl::OkStatus();
  return runtime::InvalidArgument(std::string(flag) + " " + std::to_string(value) +
                                  " is less than " + std::to_string(least));
}

}  // namespace

absl::StatusOr<runtime::DType> PretrainingOptions::WeightsType() const {
  if (weights == "float32") return runtime::DType::kFloat32;
  if (weights == "float16") return runtime::DType::kFloat16;
  if (weights == "bfloat16") return runtime::DType::kBFloat16;
  return runtime::InvalidArgument("--weights '" + weights +
                                  "' is none of float32, float16, bfloat16");
}

absl::Status PretrainingOptions::Validate() const {
  SHOAL_RETURN_IF_ERROR(AtLeast("--tokens", tokens, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--steps", steps, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--epochs", epochs, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--batch-tokens", batch_tokens, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--evaluate-every", evaluate_every, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--checkpoint-every", checkpoint_every, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--keep-checkpoints", keep_checkpoints, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--patience", patience, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--lora-rank", lora_rank, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--threads", threads, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--positions", positions, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--evaluate-tokens", evaluate_tokens, 0));
  if (tokens > 0 && steps > 0) {
    return runtime::InvalidArgument("--tokens and --steps are two ways to say the same");
  }
  if (!(least_improvement >= 0 && std::isfinite(least_improvement))) {
    return runtime::InvalidArgument("--least-improvement is negative or not finite");
  }
  if (patience > 0 && hold_out.empty()) {
    return runtime::InvalidArgument("--patience needs --hold-out");
  }
  if (output.empty()) return runtime::InvalidArgument("--output is empty");
  return absl::OkStatus();
}

std::string PretrainingOptions::Identity() const {
  return nlohmann::json{{"preset", preset},
                        {"model", model},
                        {"positions", positions},
                        {"hold_out", hold_out},
                        {"tokens", tokens},
                        {"steps", steps},
                        {"epochs", epochs},
                        {"batch_tokens", batch_tokens},
                        {"loss", loss},
                        {"attention", attention},
                        {"evaluate_on", evaluate_on},
                        {"evaluate_tokens", evaluate_tokens},
                        {"optimiser", optimiser},
                        {"learning_rate", learning_rate},
                        {"schedule", schedule},
                        {"warmup", warmup},
                        {"floor", floor},
                        {"beta1", beta1},
                        {"beta2", beta2},
                        {"weight_decay", weight_decay},
                        {"max_gradient_norm", max_gradient_norm},
                        {"lora_rank", lora_rank},
                        {"lora_alpha", lora_alpha},
                        {"evaluate_every", evaluate_every},
                        {"patience", patience},
                        {"least_improvement", least_improvement},
                        {"seed", seed},
                        {"bfloat16", bfloat16}}
      .dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace shoal::encoder
