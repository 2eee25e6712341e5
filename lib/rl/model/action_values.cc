// SPDX-License-Identifier: Apache-2.0
#include "rl/model/action_values.h"

#include <cstddef>

namespace shoal::model {

ActionValueRow SummariseActionValues(std::span<const float> head) {
  ActionValueRow row{.maximum = head.front()};
  double sum = 0;
  for (std::size_t action = 0; action < head.size(); ++action) {
    if (head[action] > row.maximum) {
      row.maximum = head[action];
      row.greedy_action = static_cast<std::int64_t>(action);
    }
    if (head[action] <= kSurelyIllegalLogit) continue;
    sum += head[action];
    ++row.legal;
  }
  if (row.legal > 0) row.mean = static_cast<float>(sum / static_cast<double>(row.legal));
  return row;
}

}  // namespace shoal::model
