// SPDX-License-Identifier: Apache-2.0
// Computes the returns of finished episodes from the unrolls that are trained on.
//
// An episode counts if its first and its last row were added in order, and once, however often its
// unrolls are used and however many rows these have in common. Where other ranks have its unrolls,
// or the table draws at random, rows between are missing, and the return is too low by theirs.
// Relabelled rows do not count: nobody played them. An episode that was cut off without a last
// observation, because its environment failed, its row was refused or its server restarted, is lost
// and has no return. Not thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "learner/unrolls/unroll_decoder.h"

namespace shoal::learner {

struct EpisodeSummary {
  std::int64_t episodes = 0;
  // Means, or 0 without episodes.
  double mean_return = 0;
  double mean_length = 0;
  // Those that were lost, which are not among the episodes.
  std::int64_t lost = 0;
};

// The mean return of the last episodes.
class RecentReturns {
 public:
  // As many as other libraries take.
  static constexpr std::int64_t kEpisodes = 100;

  void Add(const EpisodeSummary& ended);
  // Returns the mean over the last updates in which at least kEpisodes ended, or nothing before so
  // many have: that of a few says little.
  std::optional<double> Mean() const;
  void Clear() { *this = {}; }

 private:
  std::deque<EpisodeSummary> summaries_;
  std::int64_t episodes_ = 0;
};

class EpisodeReturns {
 public:
  // Adds the unrolls of one update and returns a summary of the episodes that ended in them.
  EpisodeSummary Add(std::span<const DecodedUnroll> unrolls);

 private:
  struct Open {
    std::int64_t episode_id = 0;
    double sum = 0;
    std::int64_t rows = 0;
  };
  void AddOne(const DecodedUnroll& unroll, EpisodeSummary& sums);

  absl::flat_hash_map<std::uint64_t, Open> open_;  // by environment
};

}  // namespace shoal::learner
