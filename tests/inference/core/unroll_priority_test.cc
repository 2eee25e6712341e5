// SPDX-License-Identifier: Apache-2.0
#include "inference/core/unroll_priority.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace shoal::inference {
namespace {

TEST_CASE("a first priority is of the rewards that the learner will see") {
  const std::vector<float> reward = {4};
  const std::vector<float> action_value = {0};
  const std::vector<float> value = {0, 2};
  const std::vector<std::uint8_t> flags = {0, 0};
  const ValuedRows rows{
      .reward = reward, .action_value = action_value, .value = value, .flags = flags};
  PriorityOptions options{.gamma = 0.5, .reward_scale = 0.5};
  REQUIRE(InitialPriority(rows, options) == Approx(2 + 1));
  options.reward_clipping = estimators::RewardClipping::kSymmetric;
  options.reward_limit = 3;
  REQUIRE(InitialPriority(rows, options) == Approx(1.5 + 1));
  options.reward_clipping = estimators::RewardClipping::kAsymmetric;
  REQUIRE(InitialPriority(rows, options) == Approx(2.5 * std::tanh(4.0) + 1));
}

}  // namespace
}  // namespace shoal::inference
