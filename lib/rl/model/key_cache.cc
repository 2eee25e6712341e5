// SPDX-License-Identifier: Apache-2.0
#include "rl/model/key_cache.h"

#include <ATen/ops/cat.h>

#include "rl/model/candidate_table_tensors.h"

namespace shoal::model {

at::Tensor KeyCache::Of(const std::shared_ptr<const CandidateTable>& table,
                        const Network& network) {
  {
    const runtime::MutexLock lock(mutex_);
    const auto found = items_.find(table->id());
    if (found != items_.end()) return found->second.keys;
  }
  // Two threads may both come here; they compute the same.
  const CandidateTable::Tensors& tensors = table->tensors();
  const bool adds = tensors.embeddings.size(0) > 0;
  at::Tensor keys = adds ? network.Keys(tensors.embeddings) : at::Tensor();
  if (tensors.base != nullptr) {
    const at::Tensor below = Of(tensors.base, network);
    keys = adds ? at::cat({below, keys}) : below;
  }
  const runtime::MutexLock lock(mutex_);
  std::erase_if(items_, [](const auto& item) { return item.second.table.expired(); });
  items_[table->id()] = {table, keys};
  return keys;
}

}  // namespace shoal::model
