// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/algorithm_fit.h"

namespace shoal::algorithms {

absl::Status CheckFit(const Algorithm& algorithm, const AlgorithmOptions& options,
                      const model::PolicySpec& spec) {
  if (spec.action_values != (algorithm.action_values() != nullptr)) {
    return runtime::InvalidArgument(
        "policy.action_values: algorithm " + options.name +
        (spec.action_values ? " needs logits" : " needs action values"));
  }
  if (spec.action_values &&
      spec.has_quantiles() != (algorithm.action_values()->quantiles().trained > 0)) {
    return runtime::InvalidArgument(
        "policy.quantile_cosines: algorithm " + options.name +
        (spec.has_quantiles() ? " has no use for them" : " needs them"));
  }
  if (options.retrace && (!spec.action_values || spec.has_quantiles())) {
    return runtime::InvalidArgument("algorithm.retrace: needs action values without quantiles");
  }
  if (spec.twin_critics != (algorithm.soft() != nullptr)) {
    return runtime::InvalidArgument("policy.twin_critics: algorithm " + options.name +
                                    (spec.twin_critics ? " has no use for them" : " needs them"));
  }
  return absl::OkStatus();
}

}  // namespace shoal::algorithms
