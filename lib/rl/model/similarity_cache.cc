// SPDX-License-Identifier: Apache-2.0
#include "rl/model/similarity_cache.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace shoal::model {

CosineSums CosineSums::Of(const CandidateTable& table, std::span<const float> cosine) {
  CosineSums sums;
  for (const double c : cosine) {
    sums.sum += c;
    sums.squares += c * c;
  }
  for (const std::int32_t removed : table.removed()) {
    const double c = cosine[static_cast<std::size_t>(removed)];
    sums.sum -= c;
    sums.squares -= c * c;
  }
  return sums;
}

Standardisation Standardise(const CandidateTable& table, std::span<const float> catalog,
                            const CosineSums& sums, std::span<const float> appended) {
  constexpr double kLeastDeviation = 1e-6;
  double sum = sums.sum;
  double squares = sums.squares;
  for (const double c : appended) {
    sum += c;
    squares += c * c;
  }
  for (const std::int32_t removed : table.newly_removed()) {
    const auto at = static_cast<std::size_t>(removed);
    const double c = at < catalog.size() ? catalog[at] : appended[at - catalog.size()];
    sum -= c;
    squares -= c * c;
  }
  const auto count = static_cast<double>(table.legal_count());
  const double mean = sum / count;
  const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
  if (deviation < kLeastDeviation) return {};
  return {.scale = static_cast<float>(1 / deviation),
          .shift = static_cast<float>(-mean / deviation)};
}

struct SimilarityCache::State {
  struct Item {
    std::string key;
    Row row;
  };

  std::size_t max_bytes = 0;
  std::size_t bytes = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  // The most recently used item comes first.
  std::list<Item> items;
  std::unordered_map<std::string, std::list<Item>::iterator> by_key;

  static std::size_t SizeOf(const Item& item) {
    return item.row->cosine.size() * sizeof(float) + item.key.size() + sizeof(GoalCosines) +
           sizeof(Item);
  }
  static std::string KeyOf(const CandidateTable& catalog, std::span<const std::uint8_t> goal) {
    const std::uint64_t id = catalog.id();
    std::string key(reinterpret_cast<const char*>(&id), sizeof id);
    key.append(reinterpret_cast<const char*>(goal.data()), goal.size());
    return key;
  }
};

SimilarityCache::SimilarityCache(std::size_t max_bytes) : state_(std::make_unique<State>()) {
  state_->max_bytes = max_bytes;
}
SimilarityCache::~SimilarityCache() = default;

SimilarityCache::Row SimilarityCache::Find(const CandidateTable& catalog,
                                           std::span<const std::uint8_t> goal_key) {
  const auto found = state_->by_key.find(State::KeyOf(catalog, goal_key));
  if (found == state_->by_key.end()) {
    ++state_->misses;
    return nullptr;
  }
  ++state_->hits;
  state_->items.splice(state_->items.begin(), state_->items, found->second);
  return found->second->row;
}

void SimilarityCache::Insert(const CandidateTable& catalog, std::span<const std::uint8_t> goal_key,
                             Row row) {
  std::string key = State::KeyOf(catalog, goal_key);
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
