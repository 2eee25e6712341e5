// SPDX-License-Identifier: Apache-2.0
#include "rl/model/key_cache.h"

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
  const at::Tensor keys = network.Keys(table->tensors().embeddings);
  const runtime::MutexLock lock(mutex_);
  std::erase_if(items_, [](const auto& item) { return item.second.table.expired(); });
  items_[table->id()] = {table, keys};
  return keys;
}

}  // namespace shoal::model
