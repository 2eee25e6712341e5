// SPDX-License-Identifier: Apache-2.0
// A cache of projected embeddings ("keys") of tables, shared by all policies and the trainer as
// long as they project candidates in the same way.
//
// A table itself owns the keys of its candidates: they are freed with it, and CandidateTable::bytes
// counts them. After a KeyCache is destroyed, its keys are freed when another cache next computes
// keys for the table. Thread-safe. This header shows torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "rl/model/candidate_table.h"
#include "rl/model/network.h"

namespace shoal::model {

class KeyCache {
 public:
  // Returns the cache for `network`: `cache`, which stands for the projection of `previous`, if
  // that is the same one on the same device, and a new cache otherwise. `previous` may be null.
  static std::shared_ptr<const KeyCache> For(const Network& network, const Network* previous,
                                             const std::shared_ptr<const KeyCache>& cache);

  // Returns the keys of the table's own candidates: [M, P], contiguous. `network` must have the
  // projection that this cache stands for.
  at::Tensor Of(const CandidateTable& table, const Network& network) const;

 private:
  const std::shared_ptr<const char> identity_ = std::make_shared<const char>();
};

}  // namespace shoal::model
