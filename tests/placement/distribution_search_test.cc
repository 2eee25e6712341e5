// SPDX-License-Identifier: Apache-2.0
#include "placement/distribution_search.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "placement/search.h"
#include "small_graphs.h"

namespace shoal::placement {
namespace {

struct Named {
  std::string name;
  DistributionRule rule;
};

// Settings that learn slowly and explore much.
std::vector<Named> AllDistributionRules() {
  DistributionRules rules;
  for (DistributionRule* const rule :
       {&rules.cem, &rules.softmax_reinforce, &rules.ppo, &rules.post}) {
    rule->gradient_every = 20;
    rule->cross_entropy_every = 400;
    rule->learning_rate = 0.1;
    rule->penalty = 1;
    rule->elites = rule->uniform = 0.1;
    rule->patience = 0;
  }
  return {{"cross-entropy", rules.cem},
          {"reinforce", rules.softmax_reinforce},
          {"ppo", rules.ppo},
          {"post", rules.post}};
}

struct Problem {
  Problem(const Graph& graph, const DeviceSet& devices)
      : simulator(Simulator::Create(graph, devices).value()),
        groups(MakeGroupGraph(graph, simulator)) {}

  absl::StatusOr<Found> Search(const Named& named, const SearchOptions& options) {
    return SearchByDistribution(named.name, named.rule, groups, simulator, options);
  }

  Simulator simulator;
  GroupGraph groups;
};

// Operations with transfers, of which brute force knows the best placement.
Problem SmallProblem() {
  runtime::Random random(12);
  Graph graph = RandomGraph(random, 14, 6);
  while (graph.groups.size() != 6) graph = RandomGraph(random, 14, 6);
  return {graph, EqualDevices(3, 100)};
}

TEST_CASE("every distribution search reaches the optimum of brute force, with any seed") {
  Problem problem = SmallProblem();
  const Found best = BruteForce(problem.simulator, {.evaluations = 729}).value();
  for (const Named& named : AllDistributionRules()) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      INFO(named.name << " with seed " << seed);
      const Found found = problem.Search(named, {.evaluations = 3'000, .seed = seed}).value();
      REQUIRE(found.step.cost() == best.step.cost());
      REQUIRE(problem.simulator.Run(found.placement).value().cost() == best.step.cost());
    }
  }
}

TEST_CASE("a distribution search learns: its last placements are better than its first") {
  Problem problem = SmallProblem();
  for (const Named& named : AllDistributionRules()) {
    INFO(named.name);
    // The step of the latest placement is known when its progress is told.
    double first = 0;
    double last = 0;
    const SearchOptions options = {
        .evaluations = 4'000, .seed = 1, .progress = [&](std::uint64_t tried) {
          double finish = 0;
          for (const OperationRun& run : problem.simulator.Runs())
            finish = std::max(finish, run.finish);
          if (tried <= 200) first += finish;
          if (tried > 3'800) last += finish;
        }};
    REQUIRE(problem.Search(named, options).ok());
    REQUIRE(last < 0.9 * first);
  }
}

TEST_CASE("the same seed tries the same placements, another one others") {
  Problem problem = SmallProblem();
  for (const Named& named : AllDistributionRules()) {
    INFO(named.name);
    const auto improvements = [&](std::uint64_t seed) {
      std::vector<std::pair<std::uint64_t, double>> list;
      const Found found = problem.Search(named, {.evaluations = 900, .seed = seed}).value();
      for (const Improvement& improvement : found.improvements) {
        list.emplace_back(improvement.evaluations, improvement.step.cost());
      }
      return list;
    };
    REQUIRE(improvements(7) == improvements(7));
    REQUIRE(improvements(7) != improvements(8));
  }
}

TEST_CASE("a distribution search tries as many placements as it may, to the last one") {
  Problem problem = SmallProblem();
  for (const Named& named : AllDistributionRules()) {
    for (const std::uint64_t evaluations : {1, 19, 20, 21, 400, 401, 1'003}) {
      std::uint64_t told = 0;
      const Found found =
          problem
              .Search(named, {.evaluations = evaluations,
                              .seed = 1,
                              .progress = [&](std::uint64_t tried) { told = tried; }})
              .value();
      REQUIRE(found.evaluations == evaluations);
      REQUIRE(told == evaluations);
      REQUIRE(found.best_after() >= 1);
      REQUIRE(found.best_after() <= evaluations);
    }
  }
}

TEST_CASE(
    "a search finds the one placement of thousands that fits, by how far others are from it") {
  Graph graph;
  for (std::size_t i = 0; i < 9; ++i) {
    AddOperation(graph, 1, 0, {});
    graph.operations[i].parameter_bytes = 3;
  }
  DeviceSet devices = EqualDevices(3, 30);
  devices.devices[0].memory_bytes = devices.devices[2].memory_bytes = 2;
  Problem problem(graph, devices);
  for (const Named& named : AllDistributionRules()) {
    INFO(named.name);
    const Found found = problem.Search(named, {.evaluations = 4'000, .seed = 1}).value();
    REQUIRE(found.placement == Placement(9, 1));
    REQUIRE(found.step.fits());
  }
}

TEST_CASE("a search that lets groups follow puts a chain on one of many equal devices sooner") {
  Graph graph;
  for (std::size_t i = 0; i < 24; ++i) {
    AddOperation(graph, 1, 1, i == 0 ? std::vector<std::size_t>{} : std::vector{i - 1});
  }
  Problem problem(graph, EqualDevices(6, 100));
  for (Named named : AllDistributionRules()) {
    INFO(named.name);
    const SearchOptions options = {.evaluations = 2'000, .seed = 1};
    const double following = problem.Search(named, options).value().step.seconds;
    named.rule.follow = 0;
    const double choosing = problem.Search(named, options).value().step.seconds;
    REQUIRE(following == 24);
    REQUIRE(choosing > 24);
  }
}

TEST_CASE("post begins again around its best placement once closed forms find nothing better") {
  Problem problem = SmallProblem();
  const Found best = BruteForce(problem.simulator, {.evaluations = 729}).value();
  // With next to nothing of the prior in the mixture, the distribution soon has one placement.
  DistributionRule rule = DistributionRules().post;
  rule.gradient_every = 10;
  rule.cross_entropy_every = rule.cross_entropy_most = 20;
  rule.elites = 0.1;
  rule.uniform = 1e-6;
  rule.restart = 0.5;
  const auto optima = [&](std::int64_t patience) {
    rule.patience = patience;
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Found found =
          problem.Search({"post", rule}, {.evaluations = 600, .seed = seed}).value();
      if (found.step.cost() == best.step.cost()) ++count;
    }
    return count;
  };
  REQUIRE(optima(0) < 10);
  REQUIRE(optima(2) == 10);
}

// The mean cost of a search's first hundred placements.
double MeanAtFirst(Problem& problem, const DistributionRule& rule, const Placement& from) {
  double sum = 0;
  const SearchOptions options = {.evaluations = 100, .seed = 1, .progress = [&](std::uint64_t) {
                                   double finish = 0;
                                   for (const OperationRun& run : problem.simulator.Runs()) {
                                     finish = std::max(finish, run.finish);
                                   }
                                   sum += finish;
                                 }};
  REQUIRE(
      SearchByDistribution("refine", rule, problem.groups, problem.simulator, options, from).ok());
  return sum / 100;
}

TEST_CASE("a search that begins with a placement tries it first and stays around it") {
  Graph graph;
  for (std::size_t i = 0; i < 40; ++i) AddOperation(graph, 1, 0, {});
  Problem problem(graph, EqualDevices(4, 100));
  Placement from;
  for (std::size_t i = 0; i < 40; ++i) from.push_back(i % 4);
  DistributionRule rule = DistributionRules().refine;
  for (const double follow : {0.0, 0.5}) {
    rule.follow = follow;
    const Found found = SearchByDistribution("refine", rule, problem.groups, problem.simulator,
                                             {.evaluations = 3, .seed = 1}, from)
                            .value();
    REQUIRE(found.evaluations == 3);
    REQUIRE(found.best_after() == 1);
    REQUIRE(found.placement == from);
    DistributionRule anywhere = rule;
    anywhere.start = 0;
    rule.start = 0.9;
    REQUIRE(MeanAtFirst(problem, rule, from) < 0.95 * MeanAtFirst(problem, anywhere, from));
  }
}

TEST_CASE("a search of 64 devices draws all of them and follows") {
  Graph graph;
  for (std::size_t i = 0; i < 64; ++i) AddOperation(graph, 1, 0, {});
  Problem problem(graph, EqualDevices(64, 100));
  Placement from;
  for (std::size_t i = 0; i < 64; ++i) from.push_back(63 - i);
  for (const double follow : {0.0, 0.5}) {
    DistributionRule rule = DistributionRules().refine;
    rule.follow = follow;
    const Found found = SearchByDistribution("refine", rule, problem.groups, problem.simulator,
                                             {.evaluations = 500, .seed = 1}, from)
                            .value();
    REQUIRE(found.placement == from);
    REQUIRE(found.step.seconds == 1);
  }
}

TEST_CASE("a placement to begin with that has no such device is an error") {
  Problem problem = SmallProblem();
  REQUIRE(absl::IsInvalidArgument(SearchByDistribution("refine", DistributionRules().refine,
                                                       problem.groups, problem.simulator, {},
                                                       Placement(6, 3))
                                      .status()));
}

TEST_CASE("settings of a search can be overridden, and wrong ones are errors that name them") {
  const DistributionRules rules =
      ParseDistributionRules(
          {"placement.search.post.learning_rate=0.25", "placement.search.cem.uniform=0.5",
           "placement.search.refine.start=0.25", "placement.search.reinforce.hidden=32"})
          .value();
  REQUIRE(rules.post.learning_rate == 0.25);
  REQUIRE(rules.ppo.learning_rate == DistributionRules().ppo.learning_rate);
  REQUIRE(rules.cem.uniform == 0.5);
  REQUIRE(rules.refine.start == 0.25);
  REQUIRE(rules.reinforce.hidden == 32);
  for (const char* wrong :
       {"placement.search.post.learning=1", "placement.search.softmax_reinforce.elites=0.1",
        "placement.search.reinforce.follow=0.1", "placement.search.ppo.steps=0",
        "placement.search.ppo.follow=1", "placement.search.cem.uniform=0",
        "placement.search.hill=1"}) {
    const absl::Status status = ParseDistributionRules({wrong}).status();
    INFO(status);
    REQUIRE(absl::IsInvalidArgument(status));
    REQUIRE(runtime::Message(status).find("placement.search") != std::string::npos);
  }
}

TEST_CASE("the settings of a search are shown under the section that changes them") {
  REQUIRE(SettingsSection("placement-cem") == "cem");
  REQUIRE(SettingsSection("softmax-reinforce") == "softmax_reinforce");
  const std::string cem = DefaultSettings("placement-cem");
  INFO(cem);
  REQUIRE(cem.starts_with("[placement.search.cem]\n"));
  REQUIRE(cem.find("\ncross_entropy_every = 30\n") != std::string::npos);
  REQUIRE(cem.find("learning_rate") == std::string::npos);
  REQUIRE(DefaultSettings("placement-reinforce").find("\nhidden = ") != std::string::npos);
  REQUIRE(DefaultSettings("post").find("\npenalty = ") != std::string::npos);
  for (const char* none : {"annealing", "brute-force", "a2c", ""}) {
    REQUIRE(DefaultSettings(none).empty());
  }
}

TEST_CASE("a gradient that would mix placements of two distributions is refused") {
  Problem problem = SmallProblem();
  DistributionRule rule = DistributionRules().post;
  rule.gradient_every = 30;
  rule.cross_entropy_every = 100;
  const absl::Status status = problem.Search({"post", rule}, {}).status();
  REQUIRE(absl::IsInvalidArgument(status));
  REQUIRE(runtime::Message(status) ==
          "cross_entropy_every of post is 100, which is no multiple of its gradient_every, 30");
}

}  // namespace
}  // namespace shoal::placement
