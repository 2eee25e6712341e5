// SPDX-License-Identifier: Apache-2.0
#include "inference/service/target_priorities.h"

namespace shoal::inference {

PriorityOptions TargetPriorities(const algorithms::AlgorithmOptions& algorithm) {
  return {.gamma = algorithm.gamma,
          .reward_scale = algorithm.reward_scale,
          .reward_clipping = algorithm.clipping(),
          .reward_limit = algorithm.reward_limit,
          .n_step = algorithm.n_step,
          .transformed = algorithm.transform_values,
          .maximum_share = algorithm.priority_maximum_share};
}

}  // namespace shoal::inference
