// SPDX-License-Identifier: Apache-2.0
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

#include "rl/model/candidate_table.h"

namespace shoal::model {

struct SimilarityCache::State {
  struct Item {
    std::string key;
    Row row;
  };

  std::size_t max_bytes = 0;
  std::size_t bytes = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  // Most recently used first.
  std::list<Item> items;
  std::unordered_map<std::string, std::list<Item>::iterator> by_key;

  // The nodes of list and map, the key in both, and what the allocator adds to each of them.
  static constexpr std::size_t kItemOverhead = 320;

  static std::size_t SizeOf(const Item& item) {
    return item.row->values.capacity() * sizeof(float) + kItemOverhead;
  }
  static std::string KeyOf(const CandidateTable& table, std::span<const std::uint8_t> goal) {
    const std::uint64_t id = table.id();
    std::string key(reinterpret_cast<const char*>(&id), sizeof id);
    key.append(reinterpret_cast<const char*>(goal.data()), goal.size());
    return key;
  }
};

SimilarityCache::SimilarityCache(std::size_t max_bytes) : state_(std::make_unique<State>()) {
  state_->max_bytes = max_bytes;
}
SimilarityCache::~SimilarityCache() = default;

SimilarityCache::Row SimilarityCache::Find(const CandidateTable& table,
                                           std::span<const std::uint8_t> goal_key) {
  const auto found = state_->by_key.find(State::KeyOf(table, goal_key));
  if (found == state_->by_key.end()) {
    ++state_->misses;
    return nullptr;
  }
  ++state_->hits;
  state_->items.splice(state_->items.begin(), state_->items, found->second);
  return found->second->row;
}

void SimilarityCache::Insert(const CandidateTable& table, std::span<const std::uint8_t> goal_key,
                             Row row) {
  std::string key = State::KeyOf(table, goal_key);
  if (state_->by_key.contains(key)) return;
  state_->items.push_front({key, std::move(row)});
  state_->bytes += State::SizeOf(state_->items.front());
  state_->by_key[std::move(key)] = state_->items.begin();
  while (state_->bytes > state_->max_bytes && !state_->items.empty()) {
    state_->bytes -= State::SizeOf(state_->items.back());
    state_->by_key.erase(state_->items.back().key);
    state_->items.pop_back();
  }
}

std::size_t SimilarityCache::bytes() const { return state_->bytes; }
std::uint64_t SimilarityCache::hits() const { return state_->hits; }
std::uint64_t SimilarityCache::misses() const { return state_->misses; }

}  // namespace shoal::model
