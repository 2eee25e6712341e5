// SPDX-License-Identifier: Apache-2.0
#include "encoder/retrieval.h"

#include <algorithm>

#include "platform/runtime/check.h"

namespace shoal::encoder {

std::int64_t RankOfFirst(std::span<const float> scores, const std::set<std::int64_t>& relevant) {
  SHOAL_CHECK(!relevant.empty());
  const std::int64_t best =
      *std::ranges::max_element(relevant, [&scores](std::int64_t a, std::int64_t b) {
        return scores[static_cast<std::size_t>(a)] < scores[static_cast<std::size_t>(b)];
      });
  const float score = scores[static_cast<std::size_t>(best)];
  std::int64_t rank = 1;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > score || (scores[i] == score && static_cast<std::int64_t>(i) < best)) ++rank;
  }
  return rank;
}

RetrievalScore ScoreOfRanks(std::span<const std::int64_t> ranks) {
  RetrievalScore sum;
  if (ranks.empty()) return sum;
  for (const std::int64_t rank : ranks) {
    sum.top1 += rank == 1 ? 1 : 0;
    sum.top5 += rank <= 5 ? 1 : 0;
    sum.reciprocal_rank += 1 / static_cast<double>(rank);
  }
  const auto count = static_cast<double>(ranks.size());
  return {sum.top1 / count, sum.top5 / count, sum.reciprocal_rank / count};
}

RetrievalScore MeanOf(std::span<const RetrievalScore> scores) {
  RetrievalScore sum;
  if (scores.empty()) return sum;
  for (const RetrievalScore& score : scores) {
    sum.top1 += score.top1;
    sum.top5 += score.top5;
    sum.reciprocal_rank += score.reciprocal_rank;
  }
  const auto count = static_cast<double>(scores.size());
  return {sum.top1 / count, sum.top5 / count, sum.reciprocal_rank / count};
}

}  // namespace shoal::encoder
