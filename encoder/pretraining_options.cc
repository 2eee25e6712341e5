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

absl::Status PretrainingOptions::Validate() const {
  SHOAL_RETURN_IF_ERROR(AtLeast("--steps", steps, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--epochs", epochs, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--batch-tokens", batch_tokens, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--evaluate-every", evaluate_every, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--checkpoint-every", checkpoint_every, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--keep-checkpoints", keep_checkpoints, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--patience", patience, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--lora-rank", lora_rank, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--threads", threads, 0));
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
                        {"hold_out", hold_out},
                        {"steps", steps},
                        {"epochs", epochs},
                        {"batch_tokens", batch_tokens},
                        {"loss", loss},
                        {"attention", attention},
                        {"evaluate_on", evaluate_on},
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
