// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/start_sampler.h"

#include <catch2/catch.hpp>
#include <vector>

#include "actor/loop/episode_plan.h"

namespace shoal::actor {
namespace {

const std::vector<Pair> kThree = {{.goal = "a"}, {.goal = "b"}, {.goal = "c"}};

// One pair with a rare situation and one in which nothing is left to do, and one without
// situations.
const std::vector<Pair> kWithSituations = {
    {.goal = "a",
     .situations = {{.share = 0.4}, {.share = 0.1}, {.share = 0.5, .satisfied = true}}},
    {.goal = "b"}};

std::vector<int> Draws(const StartSampler& sampler, int count) {
  std::vector<int> drawn(3, 0);
  for (int episode = 0; episode < count; ++episode) {
    ++drawn.at(sampler.Sample(7, static_cast<std::uint64_t>(episode)).pair);
  }
  return drawn;
}

// How often the first pair starts in each of its situations.
std::vector<int> SituationDraws(const StartSampler& sampler, int count) {
  std::vector<int> drawn(3, 0);
  for (int episode = 0; episode < count; ++episode) {
    const StartSampler::Start start = sampler.Sample(7, static_cast<std::uint64_t>(episode));
    REQUIRE(start.situation.has_value() == (start.pair == 0));
    if (start.pair == 0) ++drawn.at(*start.situation);
  }
  return drawn;
}

TEST_CASE("Pairs that nobody has played are drawn alike, each draw the same again") {
  const StartSampler sampler(kThree, 0.2, 5);
  for (const int count : Draws(sampler, 3000)) REQUIRE(count > 850);
  REQUIRE(Draws(sampler, 100) == Draws(StartSampler(kThree, 0.2, 5), 100));
  REQUIRE(Draws(sampler, 100) != Draws(StartSampler(kThree, 0.2, 6), 100));
}

TEST_CASE("A pair that is learned is drawn less, and never stops") {
  StartSampler sampler(kThree, 0.2, 5);
  for (int i = 0; i < 200; ++i) {
    sampler.Note({.pair = 0}, true, 1);
    sampler.Note({.pair = 1}, i % 2 == 0, 1);
    sampler.Note({.pair = 2}, false, 1);
  }
  REQUIRE(sampler.weight(0) == Approx(0.2).margin(0.01));
  REQUIRE(sampler.weight(1) == Approx(0.6).margin(0.05));
  REQUIRE(sampler.weight(2) == Approx(1.0).margin(0.01));
  const std::vector<int> drawn = Draws(sampler, 3000);
  REQUIRE(drawn[0] > 200);
  REQUIRE(drawn[0] < drawn[1]);
  REQUIRE(drawn[1] < drawn[2]);
  for (int i = 0; i < 200; ++i) sampler.Note({.pair = 0}, false, 1);
  REQUIRE(sampler.weight(0) > 0.99);
}

TEST_CASE("A pair with long episodes is drawn less often, and still takes more steps") {
  StartSampler sampler(kThree, 0.2, 5);
  for (int i = 0; i < 400; ++i) {
    sampler.Note({.pair = 0}, false, 100);
    sampler.Note({.pair = 1}, false, 4);
    sampler.Note({.pair = 2}, false, 4);
  }
  REQUIRE(sampler.weight(0) == Approx(0.1).margin(0.001));
  REQUIRE(sampler.weight(1) == Approx(0.5).margin(0.001));
  const std::vector<int> drawn = Draws(sampler, 3000);
  REQUIRE(4 * drawn[0] < drawn[1]);
  REQUIRE(100 * drawn[0] > 4 * drawn[1]);
}

TEST_CASE("Situations that nobody has played are drawn by their shares") {
  const std::vector<int> drawn = SituationDraws(StartSampler(kWithSituations, 0.25, 5), 8000);
  const int of_pair = drawn[0] + drawn[1] + drawn[2];
  REQUIRE(of_pair == Approx(4000).margin(200));
  REQUIRE(drawn[0] == Approx(0.4 * of_pair).margin(150));
  REQUIRE(drawn[1] == Approx(0.1 * of_pair).margin(100));
  REQUIRE(drawn[2] == Approx(0.5 * of_pair).margin(150));
}

TEST_CASE("A rare situation that fails is drawn more often than before, satisfied ones as before") {
  StartSampler sampler(kWithSituations, 0.25, 5);
  for (int i = 0; i < 400; ++i) {
    sampler.Note({.pair = 0, .situation = 0}, true, 1);
    sampler.Note({.pair = 0, .situation = 1}, false, 1);
    sampler.Note({.pair = 1}, true, 1);
  }
  // The mean of a quarter with share .4 and one with share .1.
  REQUIRE(sampler.weight(0) == Approx(0.4).margin(0.001));
  const std::vector<int> drawn = SituationDraws(sampler, 8000);
  const int of_pair = drawn[0] + drawn[1] + drawn[2];
  REQUIRE(drawn[0] == Approx(0.25 * of_pair).margin(150));
  REQUIRE(drawn[1] == Approx(0.25 * of_pair).margin(150));
  REQUIRE(drawn[2] == Approx(0.5 * of_pair).margin(150));
}

TEST_CASE("A pair in which nothing is ever left to do is drawn like one that is learned") {
  const StartSampler sampler({{.goal = "a", .situations = {{.share = 1, .satisfied = true}}}}, 0.25,
                             5);
  REQUIRE(sampler.weight(0) == 0.25);
  REQUIRE(sampler.Sample(1, 1).situation == 0);
}

TEST_CASE("A training plan notes what had something to do") {
  TrainingPlan plan({.sampler = StartSampler({{.goal = "a"}, {.goal = "b"}}, 0.01, 5)});
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

TEST_CASE("A training plan chooses situations and notes how each went") {
  TrainingPlan plan({.sampler = StartSampler(kWithSituations, 0.01, 5)});
  std::vector<int> drawn(3, 0);
  for (int i = 0; i < 4000; ++i) {
    const auto assignment = plan.Next(0);
    EpisodeResult result;
    result.facts.clean = assignment->start.situation != 1U;
    result.facts.satisfied_at_start = assignment->start.situation == 2U;
    if (i >= 2000 && assignment->start.pair == 0U) ++drawn.at(*assignment->start.situation);
    plan.Finish(*assignment, result);
  }
  REQUIRE(drawn[1] > 5 * drawn[0]);
}

}  // namespace
}  // namespace shoal::actor
