// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "text/language/language_trainer.h"

namespace shoal::language {
namespace {

absl::Status CheckWithin(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return runtime::InvalidArgument(std::string(name) + " " + std::to_string(value) +
                                  " is not from " + std::to_string(low) + " to " +
                                  std::to_string(high));
}

}  // namespace

absl::Status OptimiserOptions::Validate() const {
  constexpr double kBelowOne = 1 - 1e-9;
  SHOAL_RETURN_IF_ERROR(CheckWithin("beta1", beta1, 0, kBelowOne));
  SHOAL_RETURN_IF_ERROR(CheckWithin("beta2", beta2, 0, kBelowOne));
  SHOAL_RETURN_IF_ERROR(CheckWithin("epsilon", epsilon, 0, 1));
  return CheckWithin("weight decay", weight_decay, 0, 1e3);
}

absl::StatusOr<OptimiserOptions::Kind> ParseOptimiser(std::string_view name) {
  if (name == "adamw") return OptimiserOptions::Kind::kAdamW;
  if (name == "sgd") return OptimiserOptions::Kind::kSgd;
  if (name == "lion") return OptimiserOptions::Kind::kLion;
  return runtime::InvalidArgument("optimiser '" + std::string(name) +
                                  "' is none of adamw, sgd, lion");
}

absl::Status TrainerOptions::Validate() const {
  SHOAL_RETURN_IF_ERROR(optimiser.Validate());
  if (adapter) SHOAL_RETURN_IF_ERROR(adapter->Validate());
  if (precision != runtime::DType::kFloat32 && precision != runtime::DType::kBFloat16) {
    return runtime::InvalidArgument("precision is neither float32 nor bfloat16");
  }
  if (slice_tokens < 1) {
    return runtime::InvalidArgument("slice of " + std::to_string(slice_tokens) +
                                    " tokens is less than 1");
  }
  return CheckWithin("largest gradient norm", max_gradient_norm, 0, 1e30);
}

}  // namespace shoal::language
