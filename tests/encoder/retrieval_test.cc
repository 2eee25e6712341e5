// SPDX-License-Identifier: Apache-2.0
#include "encoder/retrieval.h"

#include <catch2/catch.hpp>

namespace shoal::encoder {
namespace {

TEST_CASE("the rank is that of the best relevant candidate, and of equals the first comes first") {
  const std::vector<float> scores = {0.5F, 0.9F, 0.5F, 0.1F, 0.5F};
  REQUIRE(RankOfFirst(scores, {1}) == 1);
  REQUIRE(RankOfFirst(scores, {0}) == 2);
  REQUIRE(RankOfFirst(scores, {2}) == 3);
  REQUIRE(RankOfFirst(scores, {3, 4}) == 4);
  REQUIRE(RankOfFirst(scores, {3}) == 5);
  REQUIRE(RankOfFirst(scores, {2, 4}) == 3);
}

TEST_CASE("scores are means over ranks, and means over scores are of each number") {
  const std::vector<std::int64_t> ranks = {1, 2, 5, 10};
  const RetrievalScore score = ScoreOfRanks(ranks);
  REQUIRE(score.top1 == 0.25);
  REQUIRE(score.top5 == 0.75);
  REQUIRE(score.reciprocal_rank == Approx((1 + 0.5 + 0.2 + 0.1) / 4));
  const std::vector<RetrievalScore> two = {score, {1, 1, 1}};
  REQUIRE(MeanOf(two).top1 == 0.625);
  REQUIRE(MeanOf(two).top5 == 0.875);
  REQUIRE(MeanOf(two).reciprocal_rank == Approx(0.725));
  REQUIRE(ScoreOfRanks({}).top1 == 0);
  REQUIRE(MeanOf({}).top5 == 0);
}

}  // namespace
}  // namespace shoal::encoder
