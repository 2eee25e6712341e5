// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "rl/algorithms/targets.h"

namespace shoal::algorithms {
namespace {

// Returns one column with rewards 1 and values 10, 20, 30, ...
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
  batch.behaviour_log_probability.assign(flags.size() - 1, -1.0F);
  return batch;
}

struct Worth {
  std::vector<float> advantage;
  std::vector<float> target;
  std::vector<float> weight;
};

Worth Estimate(const UnrollBatch& batch, const TargetOptions& options) {
  Targets targets = GeneralisedTargets(batch, BehaviourView(batch), options);
  return {std::move(targets.advantage), std::move(targets.value), RowWeights(batch)};
}

const TargetOptions kOptions = {.gamma = 0.5, .lambda = 0.5, .reward_scale = 1.0};

TEST_CASE("a terminated step sees nothing behind it") {
  const Worth got = Estimate(Column({kFirst, kTerminated, kFirst, 0}), kOptions);
  REQUIRE(got.advantage[1] == Approx(1 - 20));
  REQUIRE(got.advantage[0] == Approx(1 + .5 * 20 - 10 + .25 * (1 - 20)));
  REQUIRE(got.target[1] == Approx(1));
}

TEST_CASE("a truncated step sees the value of the final observation and no more") {
  const Worth got = Estimate(Column({kFirst, kTruncated, kFinal, kFirst, 0}), kOptions);
  REQUIRE(got.advantage[1] == Approx(1 + .5 * 30 - 20));
  REQUIRE(got.weight == std::vector<float>{1, 1, 0, 1});
}

TEST_CASE("a truncated step at the end of the unroll bootstraps from a final row") {
  const Worth got = Estimate(Column({kFirst, kTruncated, kFinal}), kOptions);
  REQUIRE(got.advantage[1] == Approx(1 + .5 * 30 - 20));
  REQUIRE(got.weight[1] == 1);
}

TEST_CASE("a truncated step whose final observation was lost has no weight and adds nothing") {
  const Worth got = Estimate(Column({kFirst, kTruncated, kFirst, 0}), kOptions);
  REQUIRE(got.weight == std::vector<float>{1, 0, 1});
  REQUIRE(got.advantage[0] == Approx(1 + .5 * 20 - 10));
}

TEST_CASE("padding changes nothing in the rows before it") {
  UnrollBatch batch = Column({kFirst, 0, 0, 0, 0});
  batch.lengths = {2};
  const Worth got = Estimate(batch, kOptions);
  const Worth alone = Estimate(Column({kFirst, 0, 0}), kOptions);
  REQUIRE(got.advantage[0] == alone.advantage[0]);
  REQUIRE(got.advantage[1] == alone.advantage[1]);
  REQUIRE(got.weight == std::vector<float>{1, 1, 0, 0});
}

TEST_CASE("rewards are scaled, values are not") {
  const Worth got = Estimate(Column({kFirst, kTerminated, kFirst}),
                             {.gamma = .5, .lambda = .5, .reward_scale = 3});
  REQUIRE(got.advantage[1] == Approx(3 - 20));
}

TEST_CASE("V-trace on the behaviour policy's own view with lambda 1 is the return to the end") {
  const UnrollBatch batch = Column({kFirst, 0, 0, 0});
  const TargetOptions options = {.gamma = .5, .lambda = 1};
  const Targets got = VtraceTargets(batch, BehaviourView(batch), options, {});
  const Targets expected = GeneralisedTargets(batch, BehaviourView(batch), options);
  for (std::size_t t = 0; t < 3; ++t) {
    REQUIRE(got.value[t] == Approx(expected.value[t]));
    REQUIRE(got.advantage[t] == Approx(expected.advantage[t]));
  }
}

TEST_CASE("V-trace's trace is cut where an episode ends, and a truncated row still bootstraps") {
  for (const std::uint8_t end : {kTerminated, kTruncated}) {
    const std::vector<std::uint8_t> flags =
        end == kTerminated ? std::vector<std::uint8_t>{kFirst, kTerminated, kFirst, 0, 0}
                           : std::vector<std::uint8_t>{kFirst, kTruncated, kFinal, kFirst, 0};
    UnrollBatch batch = Column(flags);
    const std::vector<float> likelier(flags.size() - 1, -0.5F);
    const PolicyView view{.log_probability = likelier, .value = batch.value};
    const TargetOptions options = {.gamma = .5, .lambda = .9};
    const Targets before = VtraceTargets(batch, view, options, {.clip_rho = 3, .clip_c = 3});
    // What comes after the end changes nothing before it.
    batch.reward[3] = 100;
    const Targets after = VtraceTargets(batch, view, options, {.clip_rho = 3, .clip_c = 3});
    REQUIRE(after.value[3] != before.value[3]);
    REQUIRE(after.value[0] == before.value[0]);
    REQUIRE(after.value[1] == before.value[1]);
    const double bootstrap = end == kTerminated ? 0 : .5 * 30;
    const double ratio = std::exp(.5);
    REQUIRE(after.value[1] == Approx(20 + ratio * (1 + bootstrap - 20)));
  }
}

TEST_CASE("Splitting a column where an episode ends gives the targets of its two parts") {
  UnrollBatch whole = Column({kFirst, kTerminated, kFirst, 0, 0});
  const std::vector<float> logs = {-.3F, -2, -.7F, -1.5F};
  const TargetOptions options = {.gamma = .9, .lambda = .8};
  const Targets got =
      VtraceTargets(whole, {.log_probability = logs, .value = whole.value}, options, {});
  UnrollBatch rest = Column({kFirst, 0, 0});
  rest.value = {30, 40, 50};
  const std::vector<float> rest_logs = {-.7F, -1.5F};
  const Targets second =
      VtraceTargets(rest, {.log_probability = rest_logs, .value = rest.value}, options, {});
  REQUIRE(got.value[2] == Approx(second.value[0]));
  REQUIRE(got.value[3] == Approx(second.value[1]));
  REQUIRE(got.advantage[2] == Approx(second.advantage[0]));
}

}  // namespace
}  // namespace shoal::algorithms
