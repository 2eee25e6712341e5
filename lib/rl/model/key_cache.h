// SPDX-License-Identifier: Apache-2.0
// The projected embeddings of tables, shared by all policies (and the trainer) whose projection of
// the candidates is the same.
//
// A table keeps the keys of its own candidates itself: they are freed with it, and
// CandidateTable::bytes counts them. An overlay's keys are its base's and those of what it adds.
// Keys of a KeyCache that is gone leave a table when another one is next asked for it. Thread-safe.
// Shows torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "rl/model/candidate_table.h"
#include "rl/model/candidate_table_tensors.h"
#include "rl/model/network.h"

namespace shoal::model {

class KeyCache {
 public:
  // The keys of all candidates, [*, P] a block. `network` is one whose projection this cache is
  // for.
  Blocks Of(const CandidateTable& table, const Network& network) const;

 private:
  // The keys of the table's own candidates, [M, P].
  at::Tensor Own(const CandidateTable& table, const Network& network) const;

  const std::shared_ptr<const char> identity_ = std::make_shared<const char>();
};

}  // namespace shoal::model
