// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/batch_builder.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "rl/algorithms/targets.h"

namespace shoal::learner {
namespace {

// An unroll of `length` rows in the middle of an episode. Each row has reward 1 and value 4.
DecodedUnroll Middle(std::int64_t length) {
  const auto steps = static_cast<std::size_t>(length);
  DecodedUnroll unroll;
  unroll.length = length;
  unroll.observation.assign(steps + 1, 0.0F);
  unroll.action.assign(steps, 0);
  unroll.behaviour_log_probability.assign(steps, -1.0F);
  unroll.reward.assign(steps, 1.0F);
  unroll.value.assign(steps + 1, 4.0F);
  unroll.flags.assign(steps + 1, 0);
  unroll.weight.assign(steps, 1.0F);
  unroll.acted.assign(steps, {1, 0});
  return unroll;
}

model::PolicySpec TwoActionSpec() {
  model::PolicySpec spec;
  spec.head = "discrete";
  spec.observation_size = 1;
  spec.action_count = 2;
  spec.content_fields = {};
  spec.past_requests = false;
  return spec;
}

TEST_CASE("a short unroll that does not end its episode bootstraps from its own last row") {
  const std::vector<DecodedUnroll> unrolls = {Middle(5), Middle(2)};
  const algorithms::UnrollBatch batch = BuildBatch(TwoActionSpec(), unrolls, {1, 0}, 0);
  REQUIRE(batch.Validate(TwoActionSpec()).ok());
  const algorithms::Targets targets = algorithms::GeneralisedTargets(
      batch, algorithms::BehaviourView(batch), {.gamma = 0.5, .lambda = 1.0});
  // The short unroll is column 1 of 2. Its row 1 has 1 + 0.5 * 4 - 4, and row 0 has half of that
  // more.
  REQUIRE(targets.advantage[3] == Approx(-1));
  REQUIRE(targets.advantage[1] == Approx(-1.5));
  const std::vector<float> weights = algorithms::RowWeights(batch);
  for (std::size_t t = 2; t < 5; ++t) REQUIRE(weights[2 * t + 1] == 0);
}

TEST_CASE("rare unrolls weigh more the further the exponent corrects for it") {
  std::vector<DecodedUnroll> unrolls = {Middle(2), Middle(2)};
  unrolls[0].probability = 0.1;
  unrolls[0].least_probability = 0.1;
  unrolls[1].probability = 0.4;
  unrolls[1].least_probability = 0.1;
  REQUIRE(BuildBatch(TwoActionSpec(), unrolls, {1, 0}, 0.5).importance ==
          std::vector<float>{1.0F, 0.5F});
  REQUIRE(BuildBatch(TwoActionSpec(), unrolls, {1, 0}, 0).importance ==
          std::vector<float>{1.0F, 1.0F});
}

TEST_CASE("a rank without unrolls has a batch without columns, with which it takes part") {
  const algorithms::UnrollBatch batch = BuildBatch(TwoActionSpec(), {}, {1, 0}, 0);
  REQUIRE(batch.columns == 0);
  REQUIRE(batch.Validate(TwoActionSpec()).ok());
}

TEST_CASE("a batch knows groups only where every unroll has one") {
  std::vector<DecodedUnroll> unrolls = {Middle(2), Middle(2)};
  unrolls[0].group = 7;
  REQUIRE(BuildBatch(TwoActionSpec(), unrolls, {1, 0}, 0).group.empty());
  unrolls[1].group = 9;
  REQUIRE(BuildBatch(TwoActionSpec(), unrolls, {1, 0}, 0).group == std::vector<std::int64_t>{7, 9});
}

}  // namespace
}  // namespace shoal::learner
