// SPDX-License-Identifier: Apache-2.0
#include "inference/core/unroll_priority.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "inference/core/row_block.h"
#include "rl/estimators/priorities.h"
#include "rl/estimators/returns.h"

namespace shoal::inference {

double InitialPriority(const ValuedRows& rows, const PriorityOptions& options) {
  using estimators::ValueTransform;
  const auto transform =
      options.transformed ? ValueTransform::kSignedHyperbolic : ValueTransform::kIdentity;
  const std::size_t length = rows.reward.size();
  std::vector<float> reward;
  std::vector<float> discount;
  std::vector<float> trace;
  std::vector<std::uint8_t> counts;
  for (std::size_t t = 0; t < length; ++t) {
    const std::uint8_t flags = rows.flags[t];
    const bool lost = (flags & kTruncated) != 0 && (rows.flags[t + 1] & kFinal) == 0;
    const bool bootstraps = (flags & kTerminated) == 0 && !lost;
    const bool ends = (flags & (kTerminated | kTruncated | kFinal)) != 0;
    // What was lost is taken for what the network expected.
    reward.push_back(
        lost ? static_cast<float>(estimators::Invert(transform, rows.value[t]))
             : static_cast<float>(options.reward_scale *
                                  estimators::ClippedReward(options.reward_clipping, rows.reward[t],
                                                            options.reward_limit)));
    discount.push_back(bootstraps ? static_cast<float>(options.gamma) : 0.0F);
    trace.push_back(ends ? 0.0F : 1.0F);
    counts.push_back(!lost && (flags & kFinal) == 0 ? 1 : 0);
  }
  const std::vector<float> target = estimators::TransformedNStepReturns(
      {.reward = reward, .discount = discount, .trace = trace, .next_value = rows.value.subspan(1)},
      static_cast<std::size_t>(options.n_step), transform);
  std::vector<float> errors;
  for (std::size_t t = 0; t < length; ++t) {
    if (counts[t] != 0) errors.push_back(std::abs(rows.action_value[t] - target[t]));
  }
  const double priority = estimators::SequencePriority(errors, options.maximum_share);
  return std::isfinite(priority) ? std::max(priority, estimators::kLeastPriority) : 1.0;
}

}  // namespace shoal::inference
