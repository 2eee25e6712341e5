// SPDX-License-Identifier: Apache-2.0
#include "rl/model/key_cache.h"

#include <algorithm>
#include <cstddef>

#include "rl/model/candidate_table_tensors.h"

namespace shoal::model {

std::shared_ptr<const KeyCache> KeyCache::For(const Network& network, const Network* previous,
                                              const std::shared_ptr<const KeyCache>& cache) {
  const auto projects = [](const Network& one) { return one.parameters().contains("key"); };
  const bool same = previous != nullptr && projects(network) && projects(*previous) &&
                    network.key().device() == previous->key().device() &&
                    network.key().equal(previous->key());
  return same ? cache : std::make_shared<const KeyCache>();
}

at::Tensor KeyCache::Of(const CandidateTable& table, const Network& network) const {
  CandidateTable::KeySlots& kept = *table.keys_;
  const auto is_mine = [this](const CandidateTable::KeySlots::Slot& slot) {
    return !slot.cache.owner_before(identity_) && !identity_.owner_before(slot.cache);
  };
  {
    const runtime::MutexLock lock(kept.mutex);
    const auto found = std::find_if(kept.slots.begin(), kept.slots.end(), is_mine);
    if (found != kept.slots.end()) return found->keys;
  }
  at::Tensor keys = network.Keys(EmbeddingsOn(table, network.key().device()).to(at::kFloat));
  const runtime::MutexLock lock(kept.mutex);
  const auto found = std::find_if(kept.slots.begin(), kept.slots.end(), is_mine);
  // Another thread was faster; its result is the same.
  if (found != kept.slots.end()) return found->keys;
  std::size_t freed = 0;
  std::erase_if(kept.slots, [&freed](const CandidateTable::KeySlots::Slot& slot) {
    if (!slot.cache.expired()) return false;
    freed += slot.keys.nbytes();
    return true;
  });
  kept.slots.push_back({identity_, keys});
  table.bytes_.fetch_add(keys.nbytes() - freed, std::memory_order_relaxed);
  return keys;
}

}  // namespace shoal::model
