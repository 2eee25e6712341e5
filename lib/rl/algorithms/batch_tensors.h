// SPDX-License-Identifier: Apache-2.0
// A batch of unrolls as torch sees it, made once an update: rows are t * B + b, for t < T.
//
// Shows torch: for this folder only. Functions throw what torch throws.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "rl/algorithms/unroll_batch.h"
#include "rl/model/network.h"

namespace shoal::algorithms {

struct BatchTensors {
  at::Tensor observation;            // [T * B, O]
  at::Tensor embeddings;             // [U + 1, D]; the last is "no content"
  std::vector<at::Tensor> contents;  // F of [T * B], rows of `embeddings`
  at::Tensor past_requests;          // [T * B, D]; undefined without that feature
  at::Tensor core_state;             // [B, S], before row 0
  at::Tensor alive;                  // [T, B, 1], 0 where the row begins an episode
  at::Tensor illegal;                // [T * B, n], bool; undefined when all is legal
  // For each table, what each of its goals adds to the logits: [G, N], kIllegalLogit where removed.
  std::vector<at::Tensor> similarity;
  std::vector<std::int64_t> goal;  // [T * B], row of similarity[catalog of the row]

  // The network's inputs for `rows`.
  model::NetworkInputs Select(const model::PolicySpec& spec, const at::Tensor& rows) const;
};

// REQUIRES: batch.Validate(spec) is OK. `weight` [T * B]: rows of weight 0 get no goal.
BatchTensors MakeBatchTensors(const UnrollBatch& batch, const model::PolicySpec& spec,
                              std::span<const float> weight);

}  // namespace shoal::algorithms
