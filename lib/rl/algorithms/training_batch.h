// SPDX-License-Identifier: Apache-2.0
// A batch of an update with everything that its gradients need: weights, tensors, targets, and the
// errors that the update leaves behind for replay.
//
// It borrows the unrolls and the algorithm, which must outlive it. Not thread-safe. This header
// shows torch and is for this folder only. Methods throw what torch throws.
#pragma once

#include <c10/core/Device.h>

#include <optional>
#include <vector>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/batch_tensors.h"
#include "rl/algorithms/policy_gradient.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/policy_spec.h"

namespace shoal::algorithms {

struct TrainingBatch {
  // REQUIRES: unrolls.Validate(spec) accepted the unrolls.
  TrainingBatch(const UnrollBatch& unrolls, const model::PolicySpec& spec,
                const Algorithm& with_algorithm, at::Device device);

  // REQUIRES: targets are set.
  UpdateData data(const LossWeights& weights) const {
    return {.batch = batch,
            .tensors = tensors,
            .targets = *targets,
            .algorithm = algorithm,
            .weights = weights};
  }
  // Returns the priority of each column, [B], by estimators::SequencePriority of the errors of its
  // rows with weight, with `maximum_share` as eta, but at least kLeastPriority. REQUIRES: the
  // algorithm has action values or twin critics.
  std::vector<float> Priorities(double maximum_share) const;

  const UnrollBatch& batch;
  const Algorithm& algorithm;
  const std::vector<float> weight;  // [T * B]
  const BatchTensors tensors;
  std::optional<TargetTensors> targets = {};
  // [T * B] with action values or twin critics, otherwise empty.
  std::vector<float> absolute_error = {};
};

}  // namespace shoal::algorithms
