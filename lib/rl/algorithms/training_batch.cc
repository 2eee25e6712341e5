// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/training_batch.h"

#include <algorithm>
#include <cstddef>

#include "rl/algorithms/targets.h"
#include "rl/estimators/priorities.h"

namespace shoal::algorithms {

TrainingBatch::TrainingBatch(const UnrollBatch& unrolls, const model::PolicySpec& spec,
                             const Algorithm& with_algorithm, at::Device device)
    : batch(unrolls),
      algorithm(with_algorithm),
      weight(RowWeights(unrolls)),
      tensors(MakeBatchTensors(
          unrolls, spec, weight,
          with_algorithm.policy() == nullptr ? EvaluatedRows::kAll : EvaluatedRows::kWeighted,
          device)) {
  if (with_algorithm.policy() == nullptr) absolute_error.resize(weight.size());
}

std::vector<float> TrainingBatch::Priorities(double maximum_share) const {
  const auto columns = static_cast<std::size_t>(batch.columns);
  std::vector<float> priorities;
  for (std::size_t column = 0; column < columns; ++column) {
    std::vector<float> errors;
    for (std::size_t row = column; row < weight.size(); row += columns) {
      if (weight[row] > 0) errors.push_back(absolute_error[row]);
    }
    const double priority = estimators::SequencePriority(errors, maximum_share);
    priorities.push_back(static_cast<float>(std::max(priority, estimators::kLeastPriority)));
  }
  return priorities;
}

}  // namespace shoal::algorithms
