// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/median.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace shoal::runtime {

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

}  // namespace shoal::runtime
