// SPDX-License-Identifier: Apache-2.0
// How well an encoder finds a request by a sentence: the rank of the first request that an expert
// would send, among all requests that a service offers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace shoal::encoder {

// Means over queries; all are 0 without one.
struct RetrievalScore {
  // The share of queries of which the first, or one of the first five, is relevant.
  double top1 = 0;
  double top5 = 0;
  // The mean of 1 / rank of the first relevant one (Voorhees, "The TREC-8 Question Answering
  // Track", 1999).
  double reciprocal_rank = 0;
};

// Returns the rank, from 1, of the first relevant candidate by descending `scores`; of equal scores
// the lower index comes first. REQUIRES: `relevant` is not empty and has only indices of `scores`.
std::int64_t RankOfFirst(std::span<const float> scores, const std::set<std::int64_t>& relevant);

RetrievalScore ScoreOfRanks(std::span<const std::int64_t> ranks);
// Returns the mean of each number.
RetrievalScore MeanOf(std::span<const RetrievalScore> scores);

}  // namespace shoal::encoder
