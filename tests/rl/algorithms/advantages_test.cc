// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "rl/algorithms/advantages.h"

namespace shoal::algorithms {
namespace {

// One column of rewards 1 and values 10, 20, 30, ...
UnrollBatch Column(const std::vector<std::uint8_t>& flags) {
  UnrollBatch batch;
  batch.length = static_cast<std::int64_t>(flags.size()) - 1;
  batch.columns = 1;
  batch.flags = flags;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    batch.value.push_back(10.0F * static_cast<float>(i + 1));
  }
  batch.reward.assign(flags.size() - 1, 1.0F);
  batch.weight.assign(flags.size() - 1, 1.0F);
  return batch;
}

const AdvantageOptions kOptions = {.gamma = 0.5, .lambda = 0.5, .reward_scale = 1.0};

TEST_CASE("a terminated step sees nothing behind it") {
  const Advantages got = EstimateAdvantages(Column({kFirst, kTerminated, kFirst, 0}), kOptions);
  REQUIRE(got.advantage[1] == Approx(1 - 20));
  REQUIRE(got.advantage[0] == Approx(1 + .5 * 20 - 10 + .25 * (1 - 20)));
  REQUIRE(got.target[1] == Approx(1));
}

TEST_CASE("a truncated step sees the value of the final observation and no more") {
  const Advantages got =
      EstimateAdvantages(Column({kFirst, kTruncated, kFinal, kFirst, 0}), kOptions);
  REQUIRE(got.advantage[1] == Approx(1 + .5 * 30 - 20));
  REQUIRE(got.weight == std::vector<float>{1, 1, 0, 1});
}

TEST_CASE("a truncated step at the end of the unroll bootstraps from a final row") {
  const Advantages got = EstimateAdvantages(Column({kFirst, kTruncated, kFinal}), kOptions);
  REQUIRE(got.advantage[1] == Approx(1 + .5 * 30 - 20));
  REQUIRE(got.weight[1] == 1);
}

TEST_CASE("a truncated step whose final observation was lost has no weight and adds nothing") {
  const Advantages got = EstimateAdvantages(Column({kFirst, kTruncated, kFirst, 0}), kOptions);
  REQUIRE(got.weight == std::vector<float>{1, 0, 1});
  REQUIRE(got.advantage[0] == Approx(1 + .5 * 20 - 10));
}

TEST_CASE("padding changes nothing in the rows before it") {
  UnrollBatch batch = Column({kFirst, 0, 0, 0, 0});
  batch.lengths = {2};
  const Advantages got = EstimateAdvantages(batch, kOptions);
  const Advantages alone = EstimateAdvantages(Column({kFirst, 0, 0}), kOptions);
  REQUIRE(got.advantage[0] == alone.advantage[0]);
  REQUIRE(got.advantage[1] == alone.advantage[1]);
  REQUIRE(got.weight == std::vector<float>{1, 1, 0, 0});
}

TEST_CASE("rewards are scaled, values are not") {
  const Advantages got = EstimateAdvantages(Column({kFirst, kTerminated, kFirst}),
                                            {.gamma = .5, .lambda = .5, .reward_scale = 3});
  REQUIRE(got.advantage[1] == Approx(3 - 20));
}

}  // namespace
}  // namespace shoal::algorithms
