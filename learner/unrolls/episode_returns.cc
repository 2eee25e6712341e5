// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/episode_returns.h"

#include <algorithm>
#include <vector>

#include "rl/algorithms/unroll_batch.h"

namespace shoal::learner {

void RecentReturns::Add(const EpisodeSummary& ended) {
  if (ended.episodes == 0) return;
  summaries_.push_back(ended);
  episodes_ += ended.episodes;
  while (episodes_ - summaries_.front().episodes >= kEpisodes) {
    episodes_ -= summaries_.front().episodes;
    summaries_.pop_front();
  }
}

std::optional<double> RecentReturns::Mean() const {
  if (episodes_ < kEpisodes) return std::nullopt;
  double sum = 0;
  for (const EpisodeSummary& one : summaries_) {
    sum += static_cast<double>(one.episodes) * one.mean_return;
  }
  return sum / static_cast<double>(episodes_);
}

EpisodeSummary EpisodeReturns::Add(std::span<const DecodedUnroll> unrolls) {
  std::vector<const DecodedUnroll*> in_order;
  for (const DecodedUnroll& unroll : unrolls) {
    // An episode counts once, however often its unrolls are used.
    if (unroll.key.use == 1) in_order.push_back(&unroll);
  }
  std::sort(in_order.begin(), in_order.end(),
            [](const DecodedUnroll* a, const DecodedUnroll* b) { return a->key < b->key; });
  EpisodeSummary sums;
  for (const DecodedUnroll* unroll : in_order) AddOne(*unroll, sums);
  if (sums.episodes > 0) {
    sums.mean_return /= static_cast<double>(sums.episodes);
    sums.mean_length /= static_cast<double>(sums.episodes);
  }
  return sums;
}

void EpisodeReturns::AddOne(const DecodedUnroll& unroll, EpisodeSummary& sums) {
  const std::uint64_t environment = unroll.key.id.environment_id;
  const bool begins = (unroll.flags[0] & algorithms::kFirst) != 0;
  const auto repeated = begins ? std::size_t{0} : static_cast<std::size_t>(unroll.overlap);
  for (std::size_t t = 0; t < static_cast<std::size_t>(unroll.length); ++t) {
    const std::uint8_t flags = unroll.flags[t];
    if ((flags & algorithms::kFinal) != 0 || unroll.relabelled[t] != 0) continue;
    if ((flags & algorithms::kFirst) != 0) open_[environment] = {unroll.episode_id[t], 0, 0};
    const auto open = open_.find(environment);
    if (open == open_.end()) continue;
    // Unless the episode was begun anew above, the unroll before has added this row.
    if (t < repeated) continue;
    if (open->second.episode_id != unroll.episode_id[t]) {
      open_.erase(open);
      continue;
    }
    open->second.sum += static_cast<double>(unroll.reward[t]);
    ++open->second.rows;
    if ((flags & (algorithms::kTerminated | algorithms::kTruncated)) == 0) continue;
    if ((flags & algorithms::kTruncated) != 0 && (unroll.flags[t + 1] & algorithms::kFinal) == 0) {
      ++sums.lost;
      open_.erase(open);
      continue;
    }
    ++sums.episodes;
    sums.mean_return += open->second.sum;
    sums.mean_length += static_cast<double>(open->second.rows);
    open_.erase(open);
  }
}

}  // namespace shoal::learner
