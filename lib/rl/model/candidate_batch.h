// SPDX-License-Identifier: Apache-2.0
// The logits of many rows over the candidates of one catalog, computed for all rows at once by
// torch's operations, on any device and with gradients.
//
//   CandidateBatch batch(catalog, rows, kinds, arrays);   // adds arrays of indices
//   arrays.Send();
//   inputs.appended_keys = batch.AppendedKeys(arrays, keys);
//   at::Tensor logits = batch.Logits(arrays, inputs);     // [R, width]
//
// A row's logits are <query, key> + scale * cosine + shift + the weights of the candidate's marks.
// The candidates that an overlay appends follow those of the catalog; where a row has fewer
// candidates than the widest one, the rest of its row is illegal. This header shows torch.
// Functions throw what torch throws. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rl/model/candidate_mark.h"
#include "rl/model/candidate_table.h"
#include "rl/model/torch_device.h"

namespace shoal::model {

struct CandidateBatchRow {
  // The catalog, or an overlay whose base it is.
  const CandidateTable* table = nullptr;
  std::span<const CandidateMark> marks = {};
  // The row of CandidateBatch::Inputs::cosines that has the cosines of this row's goal.
  std::int64_t goal = 0;
  float scale = 0;
  float shift = 0;
  // The goal's cosines with the candidates that the overlay appends, [M].
  std::span<const float> appended = {};
};

class CandidateBatch {
 public:
  // What Logits needs on the device. G is the number of goals, N that of the catalog's candidates.
  struct Inputs {
    at::Tensor queries;        // [R, P]
    at::Tensor mark_weights;   // [R, K]; undefined when K is 0
    at::Tensor cosines;        // [G, N]
    at::Tensor keys;           // of the catalog's candidates, [N, P]
    at::Tensor appended_keys;  // by AppendedKeys
  };
  // Returns the keys of a table's own candidates: [M, P].
  using KeysOf = std::function<at::Tensor(const CandidateTable&)>;

  // Adds what the rows say to `arrays`. `kinds` is K. Where `padded` is above 0, there are that
  // many rows, and the width and all other numbers are rounded up too (shape_bucket.h). What the
  // rows after the given ones hold is not defined, but finite. REQUIRES: `padded` is 0 or above the
  // number of rows.
  CandidateBatch(const CandidateTable& catalog, std::span<const CandidateBatchRow> rows,
                 std::int64_t kinds, DeviceBatch& arrays, std::int64_t padded = 0);

  // The number of candidates of the widest row, or a rounded one.
  std::int64_t width() const { return width_; }

  // Returns the keys of the candidates that overlays append, one for each row that has it, or an
  // undefined tensor where there are none. REQUIRES: the overlays still exist, and `arrays` is the
  // one that the constructor got, and was sent.
  at::Tensor AppendedKeys(const DeviceBatch& arrays, const KeysOf& keys) const;

  // Returns [R, width], with kIllegalLogit where a candidate is illegal or missing. REQUIRES:
  // `arrays` is the same.
  at::Tensor Logits(const DeviceBatch& arrays, const Inputs& inputs) const;

 private:
  // Indices into the flattened logits and into what is added there.
  struct Terms {
    std::int64_t count = 0;
    DeviceBatch::Array place;
    DeviceBatch::Array source;
  };

  at::Tensor Illegal(const DeviceBatch& arrays, at::Device device) const;

  const std::int64_t catalog_size_;
  std::int64_t rows_ = 0;
  std::int64_t width_ = 0;
  DeviceBatch::Array goal_;
  DeviceBatch::Array scale_;
  DeviceBatch::Array shift_;
  // The candidates that overlays append: their rows, their numbers among the candidates of all
  // overlays, and the similarity term.
  std::vector<const CandidateTable*> overlays_;
  Terms appended_;
  DeviceBatch::Array appended_row_;
  DeviceBatch::Array appended_similarity_;
  // The weights of marks.
  Terms marks_;
  // Columns that the catalog removed, and places that overlays removed.
  std::int64_t removed_count_ = 0;
  DeviceBatch::Array removed_;
  std::int64_t newly_removed_count_ = 0;
  DeviceBatch::Array newly_removed_;
};

}  // namespace shoal::model
