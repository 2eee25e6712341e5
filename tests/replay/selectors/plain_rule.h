// SPDX-License-Identifier: Apache-2.0
// What each kind of selector may choose, straight from its definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "replay/selectors/selector_kind.h"

namespace shoal::replay {

// Returns the probability with which a selector of `kind` must choose each item, given the items'
// priorities, oldest first. REQUIRES: there is an item.
inline std::vector<double> PlainProbabilities(SelectorKind kind,
                                              const std::vector<double>& priorities,
                                              double exponent) {
  const std::size_t size = priorities.size();
  const auto only = [size](std::size_t chosen) {
    std::vector<double> probabilities(size);
    probabilities[chosen] = 1;
    return probabilities;
  };
  // Of equal ones both find the first, which is the oldest.
  const auto place = [&priorities](auto found) {
    return static_cast<std::size_t>(found - priorities.begin());
  };
  std::vector<double> weights(size, 1);
  switch (kind) {
    case SelectorKind::kFifo:
      return only(0);
    case SelectorKind::kLifo:
      return only(size - 1);
    case SelectorKind::kMinHeap:
      return only(place(std::min_element(priorities.begin(), priorities.end())));
    case SelectorKind::kMaxHeap:
      return only(place(std::max_element(priorities.begin(), priorities.end())));
    case SelectorKind::kUniform:
      break;
    case SelectorKind::kPrioritized:
      if (*std::max_element(priorities.begin(), priorities.end()) <= 0) break;
      for (std::size_t i = 0; i < size; ++i) weights[i] = std::pow(priorities[i], exponent);
      break;
    case SelectorKind::kRecency:
      for (std::size_t i = 0; i < size; ++i) weights[i] = 2 * static_cast<double>(i) + 1;
      break;
  }
  double sum = 0;
  for (const double weight : weights) sum += weight;
  for (double& weight : weights) weight /= sum;
  return weights;
}

}  // namespace shoal::replay
