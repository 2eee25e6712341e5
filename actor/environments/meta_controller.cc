// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/meta_controller.h"

#include <string>

#include "platform/runtime/random.h"

namespace shoal::actor {

std::size_t MetaController::Choose(std::uint64_t environment, std::uint64_t episode) const {
  runtime::Random random(
      runtime::DeriveSeed(options_.seed, "policy of environment " + std::to_string(environment)),
      episode);
  return estimators::ChooseArm(estimators::UpperBounds(window_, options_.policies, options_.width),
                               options_.epsilon, random);
}

void MetaController::Learn(std::size_t policy, double episode_return) {
  if (window_.size() >= options_.window) window_.erase(window_.begin());
  window_.push_back({.arm = policy, .reward = episode_return});
}

}  // namespace shoal::actor
