// SPDX-License-Identifier: Apache-2.0
// A batch of unrolls as torch tensors, made once for each update. Row t * B + b is step t of column
// b, for t from 0 to T. The last B rows are bootstrap rows, which have no action.
//
// This header shows torch and is for this folder only. Functions throw what torch throws.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rl/algorithms/targets.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/network.h"

namespace shoal::algorithms {

// The term that is added to the logits of a row's candidates: scale * cosine + shift. The cosines
// are those of the row's goal with its catalog and with the candidates that its overlay appends.
struct RowSimilarity {
  std::int32_t catalog = -1;   // index into CandidateRows::catalogs; -1 for a row without weight
  std::int32_t goal = 0;       // row of the catalog's cosines
  std::int32_t appended = -1;  // index into CandidateRows::appended; -1 without an overlay
  float scale = 0;
  float shift = 0;
};

struct CandidateRows {
  std::vector<std::shared_ptr<const model::CandidateTable>> catalogs;  // none has a base
  std::vector<at::Tensor> cosines;           // one for each catalog: [its goals, its candidates]
  std::vector<std::vector<float>> appended;  // cosines of a goal with an overlay's own candidates
  std::vector<RowSimilarity> rows;           // [T * B], or [(T + 1) * B] for all rows
};

struct BatchTensors {
  at::Tensor observation;            // [(T + 1) * B, O]; bytes with a convolution
  at::Tensor embeddings;             // [U + 1, D]; the last is "no content"
  std::vector<at::Tensor> contents;  // F of [(T + 1) * B], rows of `embeddings`
  at::Tensor past_requests;          // [(T + 1) * B, D]; undefined without that feature
  at::Tensor mark_counts;            // [(T + 1) * B, K]; undefined when K is 0
  at::Tensor core_state;             // [B, S], before row 0
  at::Tensor alive;                  // [T + 1, B, 1], 0 where the row begins an episode
  at::Tensor illegal;                // [(T + 1) * B, n], bool; undefined when all is legal
  CandidateRows candidates;

  at::Tensor box_action;  // [T * B, n]; undefined without a box
  // The recorded values of the rows: [T * B], double; `value` is [(T + 1) * B].
  at::Tensor behaviour_log_probability;
  at::Tensor value;
  at::Tensor weight;
  // The weight of the rows that acted by the parameters that are about to be trained; undefined
  // where it is not known which these are.
  at::Tensor current_weight;
  // The importance weight of each row's column.
  at::Tensor importance;
  // What RecordedActions says of each row, [(T + 1) * B], int64.
  at::Tensor action;

  // Returns the network's inputs for `rows`, which lie on the tensors' device.
  model::NetworkInputs Select(const model::PolicySpec& spec, const at::Tensor& rows) const;
};

// Row numbers, columns or actions on the host, and the same on the device that computes.
struct IndexList {
  // Copies them to the device, and borrows those on the host.
  static IndexList Of(std::span<const std::int64_t> values, at::Device device);
  static IndexList Of(std::vector<std::int64_t>&& values, at::Device device) = delete;
  // Returns those of `part`, which lies in `host`.
  IndexList At(std::span<const std::int64_t> part) const;

  // Borrowed: whoever made the list keeps these numbers where they are while it is used.
  std::span<const std::int64_t> host;
  at::Tensor device;  // [N], int64
};

// Returns the numbers 0 to rows - 1, of all rows or columns of a batch.
std::vector<std::int64_t> AllRows(std::int64_t rows);
// Returns the same on `device`, [rows] int64, made there without a copy.
at::Tensor AllRows(std::int64_t rows, at::Device device);

// Returns the recorded actions of `rows`. A bootstrap row and a row of weight 0 may have none and
// get 0.
std::vector<std::int64_t> RecordedActions(const UnrollBatch& batch,
                                          std::span<const std::int64_t> rows);

// The targets of the rows as torch tensors: [T * B] and double unless said otherwise.
struct TargetTensors {
  TargetTensors(const Targets& targets, at::Device device);

  at::Tensor advantage;
  at::Tensor value;
  at::Tensor intrinsic;  // undefined without split values
  // Undefined without quantiles.
  at::Tensor quantile;  // [T * B, M], double
  at::Tensor fraction;  // [T * B, N], float
};

// Which rows of a batch are compared with their candidates, and can therefore be evaluated.
enum class EvaluatedRows {
  // Those with weight.
  kWeighted,
  // All but padding, bootstrap rows included.
  kAll,
};

// Makes the tensors, which travel to `device` in one copy; `weight` is [T * B]. REQUIRES:
// batch.Validate(spec) is OK.
BatchTensors MakeBatchTensors(const UnrollBatch& batch, const model::PolicySpec& spec,
                              std::span<const float> weight, EvaluatedRows evaluated,
                              at::Device device);

}  // namespace shoal::algorithms
