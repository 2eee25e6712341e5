// SPDX-License-Identifier: Apache-2.0
// The ranks' shares of a batch, and the parameters that they end with.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "rl/algorithms/unroll_batch.h"
#include "rl/model/policy_spec.h"
#include "rl/model/safetensors.h"
#include "tests/doubles/ranks.h"

namespace shoal::algorithms {

using doubles::RunRanks;

// Keeps columns begin..end-1 of rows [.., columns, width].
template <typename T>
void TakeColumns(std::vector<T>& values, std::size_t columns, std::size_t width, std::size_t begin,
                 std::size_t end) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t column = i / width % columns;
    if (column >= begin && column < end) kept.push_back(values[i]);
  }
  values = std::move(kept);
}

// Returns columns begin..end-1 of the batch.
inline UnrollBatch Columns(const UnrollBatch& batch, const model::PolicySpec& spec,
                           std::size_t begin, std::size_t end) {
  UnrollBatch part = batch;
  const auto columns = static_cast<std::size_t>(batch.columns);
  part.columns = static_cast<std::int64_t>(end - begin);
  TakeColumns(part.observation, columns, static_cast<std::size_t>(spec.observation_size), begin,
              end);
  TakeColumns(part.content_index, columns, spec.content_fields.size(), begin, end);
  TakeColumns(part.past_requests, columns, static_cast<std::size_t>(spec.embedding_size), begin,
              end);
  TakeColumns(part.core_state, columns, static_cast<std::size_t>(spec.core_state_size()), begin,
              end);
  TakeColumns(part.catalog, columns, 1, begin, end);
  TakeColumns(part.action, columns, 1, begin, end);
  TakeColumns(part.behaviour_log_probability, columns, 1, begin, end);
  TakeColumns(part.reward, columns, 1, begin, end);
  TakeColumns(part.value, columns, 1, begin, end);
  TakeColumns(part.flags, columns, 1, begin, end);
  TakeColumns(part.weight, columns, 1, begin, end);
  TakeColumns(part.staleness, columns, 1, begin, end);
  return part;
}

inline double LargestDifference(const std::string& a, const std::string& b) {
  const auto left = model::SafetensorsView::Parse(a).value();
  const auto right = model::SafetensorsView::Parse(b).value();
  double largest = 0;
  for (const auto& entry : left.entries()) {
    const auto x = left.Floats(entry.name, entry.shape).value();
    const auto y = right.Floats(entry.name, entry.shape).value();
    for (std::size_t i = 0; i < x.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(x[i]) - y[i]));
    }
  }
  return largest;
}

}  // namespace shoal::algorithms
