// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/algorithm_fit.h"

#include <string>

namespace shoal::algorithms {

absl::Status CheckFit(const Algorithm& algorithm, const AlgorithmOptions& options,
                      const model::PolicySpec& spec) {
  if (spec.has_box() && algorithm.action_values() != nullptr) {
    return runtime::InvalidArgument(
        "policy.head: algorithm " + options.name +
        " chooses among discrete actions; continuous ones need the head box with algorithm sac, or "
        "the head gaussian with ppo, a2c, reinforce, impala, grpo or cem");
  }
  if (spec.has_gaussian() && algorithm.policy() == nullptr) {
    return runtime::InvalidArgument("policy.head: algorithm " + options.name +
                                    " needs box or discrete, not gaussian");
  }
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
  if (options.kl_coefficient > 0 && options.name != "ppo") {
    return runtime::InvalidArgument(
        "algorithm.kl_coefficient: ppo alone has a penalty on the KL, not " + options.name);
  }
  if (!spec.has_split_values()) {
    if (options.relabelled_share == 0) return absl::OkStatus();
    return runtime::InvalidArgument(
        "algorithm.relabelled_share: it is above 0, which needs policy.split_values");
  }
  if (options.members == 0) {
    return runtime::InvalidArgument(
        "policy.split_values: algorithm.members is 0, and only a family has intrinsic values");
  }
  if (options.transform_values != (spec.split_values == "transformed")) {
    return runtime::InvalidArgument(
        "policy.split_values: it is transformed if algorithm.transform_values is true, and sum "
        "otherwise");
  }
  return absl::OkStatus();
}

absl::Status CheckClones(const model::PolicySpec& spec) {
  if (spec.has_gaussian()) {
    return runtime::InvalidArgument(
        "policy.head: gaussian cannot be cloned from demonstrations, since actions of a box cannot "
        "be forced");
  }
  if (!spec.twin_critics && !spec.has_split_values()) return absl::OkStatus();
  return runtime::InvalidArgument(
      std::string(spec.twin_critics ? "policy.twin_critics" : "policy.split_values") +
      ": they cannot be cloned from demonstrations");
}

absl::Status CheckAsynchronous(const Requirements& requirements, const AlgorithmOptions& options,
                               const model::PolicySpec& spec) {
  const auto refuse = [](const std::string& knob, const std::string& why) {
    return runtime::InvalidArgument(
        "learner.gradients: asynchronous ones do not go together with " + knob + ", " + why);
  };
  if (requirements.update_epochs != 1 || requirements.minibatches != 1) {
    return refuse("algorithm " + options.name,
                  "which makes " +
                      std::to_string(requirements.update_epochs * requirements.minibatches) +
                      " steps of a batch (algorithm.update_epochs, algorithm.minibatches)");
  }
  if (options.kl_coefficient > 0) {
    return refuse("algorithm.kl_coefficient", "which follows the updates of one trainer");
  }
  if (spec.normalise_observations) {
    return refuse("policy.normalise_observations", "whose moments all ranks have in common");
  }
  if (options.normalise_returns) {
    return refuse("algorithm.normalise_returns", "whose moments all ranks have in common");
  }
  return absl::OkStatus();
}

}  // namespace shoal::algorithms
