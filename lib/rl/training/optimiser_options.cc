// SPDX-License-Identifier: Apache-2.0
#include "rl/training/optimiser_options.h"

#include <algorithm>
#include <string>

namespace shoal::training {
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

bool HasSecondMoment(OptimiserOptions::Kind kind) {
  return kind != OptimiserOptions::Kind::kSgd && kind != OptimiserOptions::Kind::kLion;
}

const std::vector<std::string_view>& OptimiserNames() {
  static const std::vector<std::string_view> names = {"adamw", "sgd", "lion", "adam", "rmsprop"};
  return names;
}

absl::StatusOr<OptimiserOptions::Kind> ParseOptimiser(std::string_view name) {
  const std::vector<std::string_view>& names = OptimiserNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<OptimiserOptions::Kind>(found - names.begin());
  std::string known;
  for (const std::string_view one : names) {
    known += (known.empty() ? "" : ", ") + std::string(one);
  }
  return runtime::InvalidArgument("optimiser '" + std::string(name) + "' is none of " + known);
}

}  // namespace shoal::training
