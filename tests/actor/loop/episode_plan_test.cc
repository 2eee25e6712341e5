// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/episode_plan.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/doubles/manual_clock.h"

namespace shoal::actor {
namespace {

using std::chrono::seconds;

const Pair kPower = {.goal = "1 power", .capture = "a"};
const Pair kLight = {.goal = "2 light", .capture = "a"};

// What a plan has reported.
struct Told {
  std::vector<std::string> given_up;
  std::vector<absl::Status> ends;
  doubles::ManualClock clock;

  EvaluationPlan Plan(EvaluationPlan::Work work) {
    return EvaluationPlan(std::move(work),
                          {.on_result = [](const EpisodeAssignment&, const EpisodeResult&) {},
                           .on_given_up =
                               [this](const Pair& pair, const std::string& reason) {
                                 given_up.push_back(pair.goal + ": " + reason);
                               },
                           .on_end = [this](const absl::Status& end) { ends.push_back(end); }},
                          clock);
  }
};

EvaluationPlan::Policy Named(const std::string& name) { return ParsePolicy(name).value(); }

EpisodeResult Played(bool satisfied_at_start = false) {
  EpisodeResult result;
  result.facts.satisfied_at_start = satisfied_at_start;
  return result;
}

// Plays all that the plan hands out, one after the other, and counts it by policy and goal.
std::map<std::string, int> PlayAll(EvaluationPlan& plan, const std::vector<Pair>& pairs) {
  std::map<std::string, int> played;
  while (const auto assignment = plan.Next(0)) {
    ++played[assignment->policy_name + " " + pairs[*assignment->start.pair].goal];
    plan.Finish(*assignment, Played());
  }
  return played;
}

}  // namespace

TEST_CASE("An episode is resumed with its own start, and the later ones follow it again") {
  TrainingPlan plan({.first_environment = 4, .environments = 2});
  for (int i = 0; i < 3; ++i) (void)plan.Next(5);
  const auto resumed = plan.Resume(5, 1);
  REQUIRE(resumed->start.environment_id == 5);
  REQUIRE(resumed->start.episode == 1);
  REQUIRE(plan.Next(5)->start.episode == 2);
  REQUIRE(plan.Next(4)->start.episode == 0);
}

TEST_CASE("Training episodes meet more faults as they succeed, and those of before do not count") {
  std::vector<std::int64_t> stages;
  TrainingPlan plan({.environments = 1,
                     .pairs = {kPower},
                     .curriculum = {.stages = 2, .success = 0.5, .episodes = 2},
                     .on_stage = [&](std::int64_t stage) { stages.push_back(stage); }});
  EpisodeResult success = Played();
  success.facts.clean = true;
  const auto old = plan.Next(0);
  REQUIRE(old->start.fault_share == 0);
  REQUIRE_FALSE(plan.Resume(0, 0));
  plan.Finish(*plan.Next(0), Played());
  plan.Finish(*plan.Next(0), Played(true));
  plan.Finish(*plan.Next(0), Played());
  REQUIRE(plan.Next(0)->start.fault_share == 0);
  plan.Finish(*plan.Next(0), success);
  REQUIRE(plan.Next(0)->start.fault_share == 0.5);
  plan.Finish(*old, success);
  plan.Finish(*plan.Next(0), success);
  REQUIRE(plan.Next(0)->start.fault_share == 0.5);
  plan.Finish(*plan.Next(0), success);
  REQUIRE(plan.Next(0)->start.fault_share == 1);
  REQUIRE(stages == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE(
    "Evaluations, and training without a curriculum, meet all faults from the first episode on") {
  TrainingPlan training({.environments = 1, .pairs = {kPower}});
  REQUIRE(training.Next(0)->start.fault_share == 1);
  Told told;
  EvaluationPlan evaluation =
      told.Plan({.policies = {Named("current")}, .pairs = {kPower}, .episodes = 1});
  REQUIRE(evaluation.Next(0)->start.fault_share == 1);
}

TEST_CASE("No episode is resumed whose start depended on others") {
  TrainingPlan groups({.environments = 1, .pairs = {kPower}, .group_size = 2});
  REQUIRE_FALSE(groups.Resume(0, 0));
  TrainingPlan chosen({.environments = 1,
                       .pairs = {kPower, kLight},
                       .sampler = StartSampler({kPower, kLight}, 0.5, 1)});
  REQUIRE_FALSE(chosen.Resume(0, 0));
  TrainingPlan one(
      {.environments = 1, .pairs = {kPower}, .sampler = StartSampler({kPower}, 0.5, 1)});
  REQUIRE(one.Resume(0, 3)->start.pair == 0);
}

TEST_CASE("Episodes of a group have one start, whichever environments play them") {
  TrainingPlan plan({.first_environment = 4,
                     .environments = 2,
                     .pairs = {kPower, kLight},
                     .sampler = StartSampler({kPower, kLight}, 0.5, 1),
                     .group_size = 3});
  std::vector<EpisodeAssignment> begun;
  for (const std::uint64_t environment : {4U, 5U, 5U, 4U, 5U, 4U}) {
    begun.push_back(plan.Next(environment).value());
  }
  for (std::size_t i = 0; i < begun.size(); ++i) {
    const EpisodeAssignment& first = begun[i < 3 ? 0 : 3];
    REQUIRE(begun[i].group == first.group);
    REQUIRE(begun[i].start.environment_id == first.start.environment_id);
    REQUIRE(begun[i].start.episode == first.start.episode);
    REQUIRE(begun[i].start.pair == first.start.pair);
  }
  REQUIRE(begun[0].group != begun[3].group);
  REQUIRE(begun[0].start.episode != begun[3].start.episode);
  // Another actor's groups have other numbers.
  TrainingPlan other({.first_environment = 8, .environments = 2, .group_size = 3});
  REQUIRE(other.Next(8)->group != begun[0].group);
  REQUIRE_FALSE(TrainingPlan({.environments = 1}).Next(0)->group.has_value());
}

TEST_CASE("A policy that is refused again and again ends the evaluation, one that acts does not") {
  Told told;
  EvaluationPlan plan =
      told.Plan({.policies = {Named("1.7"), Named("uniform")}, .pairs = {kPower}, .episodes = 200});
  const int nearly = EvaluationPlan::kRefusalsAtMost - 1;
  for (int i = 0; i < nearly; ++i) plan.Refuse(*plan.Next(0), "no such version");
  plan.Finish(*plan.Next(0), {});
  for (int i = 0; i < nearly; ++i) plan.Refuse(*plan.Next(0), "no such version");
  REQUIRE(told.ends.empty());
  plan.Refuse(*plan.Next(0), "no such version");
  REQUIRE(told.ends.size() == 1);
  REQUIRE(absl::IsUnavailable(told.ends[0]));
  REQUIRE(runtime::Message(told.ends[0]).find("1.7 is refused: no such version") !=
          std::string::npos);
}

TEST_CASE("An evaluation goes on without a pair that was given up, and ends") {
  Told told;
  EvaluationPlan plan = told.Plan(
      {.policies = {Named("current"), Named("uniform")}, .pairs = {kPower, kLight}, .episodes = 3});
  const auto first = plan.Next(0);
  const auto second = plan.Next(1);
  REQUIRE(*first->start.pair == 0);
  plan.GiveUp(*first, kPower, "the service says no");
  plan.Finish(*second, Played());
  REQUIRE(PlayAll(plan, {kPower, kLight}) ==
          std::map<std::string, int>{{"current 2 light", 2}, {"uniform 2 light", 3}});
  REQUIRE(told.given_up == std::vector<std::string>{"1 power: the service says no"});
  REQUIRE(told.ends.size() == 1);
  REQUIRE(told.ends[0].ok());
}

TEST_CASE("An evaluation without any pair that can begin is an error that says why") {
  Told told;
  EvaluationPlan plan =
      told.Plan({.policies = {Named("current")}, .pairs = {kPower, kLight}, .episodes = 3});
  const auto power = plan.Next(0);
  const auto light = plan.Next(1);
  const auto more = plan.Next(2);
  plan.GiveUp(*power, kPower, "no");
  plan.GiveUp(*light, kLight, "never");
  REQUIRE(told.ends.empty());
  plan.Abort(*more);
  REQUIRE(told.ends.size() == 1);
  REQUIRE(absl::IsInvalidArgument(told.ends[0]));
  REQUIRE(runtime::Message(told.ends[0]).find("never") != std::string::npos);
}

TEST_CASE("A pair is done after the episodes that count, and starts that satisfy it do not") {
  Told told;
  EvaluationPlan plan =
      told.Plan({.policies = {Named("current")}, .pairs = {kPower}, .episodes = 10, .counted = 2});
  plan.Finish(*plan.Next(0), Played(true));
  const auto first = plan.Next(0);
  const auto second = plan.Next(1);
  REQUIRE_FALSE(plan.Next(2));
  plan.Finish(*first, Played(true));
  const auto third = plan.Next(0);
  REQUIRE(third->start.episode == 3);
  plan.Finish(*second, Played());
  plan.Finish(*third, Played());
  REQUIRE_FALSE(plan.Next(0));
  REQUIRE(told.ends.size() == 1);
}

TEST_CASE("An evaluation that runs out of time has played each pair under each policy once") {
  Told told;
  const std::vector<Pair> pairs = {kPower, kLight};
  EvaluationPlan plan = told.Plan({.policies = {Named("current"), Named("uniform")},
                                   .pairs = pairs,
                                   .episodes = 100,
                                   .limit = seconds(5)});
  for (int i = 0; i < 12; ++i) plan.Finish(*plan.Next(0), Played());
  const auto late = plan.Next(0);
  told.clock.Advance(seconds(6));
  plan.Finish(*late, Played());
  REQUIRE(told.ends.empty());
  REQUIRE(PlayAll(plan, pairs) ==
          std::map<std::string, int>{{"uniform 1 power", 1}, {"uniform 2 light", 1}});
  REQUIRE(told.ends.size() == 1);
  REQUIRE(told.ends[0].ok());
}

TEST_CASE("Training plays the other pairs once one is given up") {
  TrainingPlan plan({.environments = 1, .pairs = {kPower, kLight}});
  plan.GiveUp(*plan.Next(0), kPower, "no");
  for (int i = 0; i < 10; ++i) REQUIRE(*plan.Next(0)->start.pair == 1);
}

TEST_CASE("Training that draws its pairs draws none that was given up") {
  TrainingPlan plan({.environments = 1,
                     .pairs = {kPower, kLight},
                     .sampler = StartSampler({kPower, kLight}, 0.25, 1)});
  plan.GiveUp(*plan.Next(0), kLight, "no");
  for (int i = 0; i < 100; ++i) REQUIRE(*plan.Next(0)->start.pair == 0);
}

TEST_CASE("Training ends with the reason when no pair is left") {
  std::vector<absl::Status> ends;
  TrainingPlan plan({.environments = 2, .pairs = {kPower}},
                    [&](const absl::Status& end) { ends.push_back(end); });
  const auto first = plan.Next(0);
  const auto second = plan.Next(1);
  plan.GiveUp(*first, kPower, "no such switch");
  plan.GiveUp(*second, kPower, "no such switch");
  REQUIRE_FALSE(plan.Next(0));
  REQUIRE(ends.size() == 1);
  REQUIRE(runtime::Message(ends[0]).find("no such switch") != std::string::npos);
}

}  // namespace shoal::actor
