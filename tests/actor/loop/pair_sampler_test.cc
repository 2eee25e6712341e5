// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/pair_sampler.h"

#include <catch2/catch.hpp>
#include <vector>

#include "actor/loop/episode_plan.h"

namespace shoal::actor {
namespace {

std::vector<int> Draws(const PairSampler& sampler, int count) {
  std::vector<int> drawn(3, 0);
  for (int episode = 0; episode < count; ++episode) {
    ++drawn.at(sampler.Sample(7, static_cast<std::uint64_t>(episode)));
  }
  return drawn;
}

TEST_CASE("Pairs that nobody has played are drawn alike, each draw the same again") {
  const PairSampler sampler(3, 0.2, 5);
  for (const int count : Draws(sampler, 3000)) REQUIRE(count > 850);
  REQUIRE(Draws(sampler, 100) == Draws(PairSampler(3, 0.2, 5), 100));
  REQUIRE(Draws(sampler, 100) != Draws(PairSampler(3, 0.2, 6), 100));
}

TEST_CASE("A pair that is learned is drawn less, and never stops") {
  PairSampler sampler(3, 0.2, 5);
  for (int i = 0; i < 200; ++i) {
    sampler.Note(0, true, 1);
    sampler.Note(1, i % 2 == 0, 1);
    sampler.Note(2, false, 1);
  }
  REQUIRE(sampler.weight(0) == Approx(0.2).margin(0.01));
  REQUIRE(sampler.weight(1) == Approx(0.6).margin(0.05));
  REQUIRE(sampler.weight(2) == Approx(1.0).margin(0.01));
  const std::vector<int> drawn = Draws(sampler, 3000);
  REQUIRE(drawn[0] > 200);
  REQUIRE(drawn[0] < drawn[1]);
  REQUIRE(drawn[1] < drawn[2]);
  for (int i = 0; i < 200; ++i) sampler.Note(0, false, 1);
  REQUIRE(sampler.weight(0) > 0.99);
}

TEST_CASE("A pair with long episodes is drawn less often, and still takes more steps") {
  PairSampler sampler(3, 0.2, 5);
  for (int i = 0; i < 400; ++i) {
    sampler.Note(0, false, 100);
    sampler.Note(1, false, 4);
    sampler.Note(2, false, 4);
  }
  REQUIRE(sampler.weight(0) == Approx(0.1).margin(0.001));
  REQUIRE(sampler.weight(1) == Approx(0.5).margin(0.001));
  const std::vector<int> drawn = Draws(sampler, 3000);
  REQUIRE(4 * drawn[0] < drawn[1]);
  REQUIRE(100 * drawn[0] > 4 * drawn[1]);
}

TEST_CASE("A training plan notes what had something to do") {
  TrainingPlan plan({.sampler = PairSampler(2, 0.01, 5)});
  int of_first = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto assignment = plan.Next(0);
    REQUIRE(assignment->start.pair.has_value());
    const bool first = *assignment->start.pair == 0;
    if (i >= 1000 && first) ++of_first;
    EpisodeResult result;
    result.facts.clean = true;
    result.facts.satisfied_at_start = !first;
    plan.Finish(*assignment, result);
  }
  REQUIRE(of_first < 100);
  REQUIRE_FALSE(TrainingPlan(TrainingPlan::Work{}).Next(0)->start.pair.has_value());
}

}  // namespace
}  // namespace shoal::actor
