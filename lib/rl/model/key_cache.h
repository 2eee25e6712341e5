// SPDX-License-Identifier: Apache-2.0
// Projected embeddings of tables, kept while the tables live; shared by all policies (and the
// trainer) whose projection of the candidates is the same.
//
// An overlay's keys are those of what it appends; its base's are kept once, for the base. Memory: 4
// P bytes for each candidate of the tables that live. Thread-safe. Shows torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>

#include "platform/runtime/mutex.h"
#include "rl/model/candidate_table.h"
#include "rl/model/network.h"

namespace shoal::model {

class KeyCache {
 public:
  // The keys of the table's own candidates: [M, P], contiguous. `network` is one whose projection
  // this cache is for.
  at::Tensor Of(const std::shared_ptr<const CandidateTable>& table, const Network& network)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Item {
    std::weak_ptr<const CandidateTable> table;
    at::Tensor keys;
  };

  runtime::Mutex mutex_;
  // By the table's id.
  std::map<std::uint64_t, Item> items_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::model
