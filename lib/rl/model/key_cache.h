// SPDX-License-Identifier: Apache-2.0
// The projected embeddings of tables, shared by all policies (and the trainer) whose projection of
// the candidates is the same.
//
// A table keeps the keys of its own candidates itself: they are freed with it, and
// CandidateTable::bytes counts them. Keys of a KeyCache that is gone leave a table when another one
// is next asked for it. Thread-safe. Shows torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "rl/model/candidate_table.h"
#include "rl/model/network.h"

namespace shoal::model {

class KeyCache {
 public:
  // The keys of the table's own candidates: [M, P], contiguous. `network` is one whose projection
  // this cache is for.
  at::Tensor Of(const CandidateTable& table, const Network& network) const;

 private:
  const std::shared_ptr<const char> identity_ = std::make_shared<const char>();
};

}  // namespace shoal::model
