// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/placement_environment.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "actor/environments/environment_source.h"
#include "placement/graph_file.h"
#include "placement/group_graph.h"
#include "placement/rules.h"

namespace shoal::actor {
namespace {

using placement::Placement;
using placement::Simulator;

constexpr const char* kNetwork = "data/placement/graphs/rnnlm.json";
constexpr const char* kMachine = "data/placement/devices/k80.toml";

PlacementOptions Files() { return {.graphs = {kNetwork}, .devices = {kMachine}}; }

// An episode in which the actions follow a pattern.
struct PlacedEpisode {
  std::vector<float> numbers;
  double rewards = 0;
  EpisodeFacts facts;
  Placement placement;
};

PlacedEpisode PlaceEpisode(const PlacementOptions& options, std::uint64_t seed,
                           const EpisodeStart& start, std::int64_t stride = 1) {
  PlacedEpisode played;
  PlacementEnvironment environment(
      LoadPlacementTasks(options).value(), seed,
      [&played](const Placement& placement) { played.placement = placement; });
  Transition now;
  const auto take = [&](absl::StatusOr<Transition> next) { now = std::move(next).value(); };
  environment.Reset(start, take);
  for (std::int64_t step = 0; now.end == End::kNone; ++step) {
    played.numbers.insert(played.numbers.end(), now.observation.numeric.begin(),
                          now.observation.numeric.end());
    environment.Step(step * stride % options.choices, take);
    played.numbers.push_back(now.reward);
    played.rewards += static_cast<double>(now.reward);
  }
  REQUIRE(now.end == End::kTerminated);
  played.facts = environment.facts();
  return played;
}

std::string RefusalOf(const PlacementOptions& options) {
  const auto tasks = LoadPlacementTasks(options);
  REQUIRE_FALSE(tasks.ok());
  return std::string(tasks.status().message());
}

}  // namespace

TEST_CASE("An episode of placement is a function of seed, environment, episode and actions") {
  const EpisodeStart start{.environment_id = 2, .episode = 5};
  const PlacedEpisode first = PlaceEpisode({}, 3, start);
  REQUIRE(PlaceEpisode({}, 3, start).numbers == first.numbers);
  REQUIRE(PlaceEpisode({}, 4, start).numbers != first.numbers);
  REQUIRE(PlaceEpisode({}, 3, {.environment_id = 3, .episode = 5}).numbers != first.numbers);
  REQUIRE(PlaceEpisode({}, 3, {.environment_id = 2, .episode = 6}).numbers != first.numbers);
}

TEST_CASE("Rewards add up to the root of the simulated step, in steps of the fastest device") {
  const auto graph = placement::LoadGraph(kNetwork).value();
  const auto devices = placement::LoadDevices(kMachine).value();
  Simulator simulator = Simulator::Create(graph, devices).value();
  const double single = simulator.Run(placement::OnOneDevice(simulator)).value().seconds;
  for (const std::int64_t stride : {0, 1, 3}) {
    const PlacedEpisode played = PlaceEpisode(Files(), 1, {}, stride);
    REQUIRE(played.placement.size() == graph.groups.size());
    REQUIRE(played.facts.steps == static_cast<int>(graph.groups.size()));
    const double seconds = simulator.Run(played.placement).value().seconds;
    REQUIRE(played.rewards == Approx(-100 * std::sqrt(seconds / single)));
    REQUIRE(played.facts.success == (seconds <= single));
  }
}

TEST_CASE("An evaluation compares with the rule of its pair") {
  const auto graph = placement::LoadGraph(kNetwork).value();
  const auto devices = placement::LoadDevices(kMachine).value();
  Simulator simulator = Simulator::Create(graph, devices).value();
  const std::vector<Pair> pairs = PlacementEnvironment::Pairs();
  const std::map<std::string, Placement> rules = {
      {"one device", placement::OnOneDevice(simulator)},
      {"even split", placement::SplitEvenly(placement::MakeGroupGraph(graph, simulator),
                                            placement::FastestDevices(simulator))},
      {"HEFT", placement::Heft(graph, devices, simulator)},
      {"first choices", placement::PlaceByFirstChoices(graph, devices).value()}};
  REQUIRE(pairs.size() == rules.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    INFO(pairs[i].capture);
    const double rule = simulator.Run(rules.at(pairs[i].capture)).value().seconds;
    const PlacedEpisode played = PlaceEpisode(Files(), 1, {.pair = i, .evaluation = true});
    const double seconds = simulator.Run(played.placement).value().seconds;
    REQUIRE(played.rewards == Approx(-100 * std::sqrt(seconds / rule)));
    REQUIRE(played.facts.capture == pairs[i].capture);
    REQUIRE(played.facts.success == (seconds <= rule));
  }
}

TEST_CASE("An action beyond the choices is an error, not a step") {
  PlacementEnvironment environment(LoadPlacementTasks({}).value(), 1);
  environment.Reset({}, [](const absl::StatusOr<Transition>& start) { REQUIRE(start.ok()); });
  for (const std::int64_t action : {std::int64_t{-1}, std::int64_t{4}}) {
    absl::Status status;
    environment.Step(action,
                     [&](const absl::StatusOr<Transition>& answer) { status = answer.status(); });
    REQUIRE(absl::IsInvalidArgument(status));
  }
  REQUIRE(environment.facts().steps == 0);
}

TEST_CASE("Bad files and knobs of placement are errors that name them") {
  REQUIRE(RefusalOf({.graphs = {"no/such.json"}}).find("no/such.json") != std::string::npos);
  REQUIRE(RefusalOf({.devices = {"no/such.toml"}}).find("no/such.toml") != std::string::npos);
  REQUIRE(RefusalOf({.graphs = {kMachine}}).find(kMachine) != std::string::npos);
  REQUIRE(RefusalOf({.least_groups = 9, .most_groups = 8}).find("least_groups") !=
          std::string::npos);
}

TEST_CASE("A source makes environments of placement with the sizes that its spec tells") {
  EnvironmentOptions options;
  options.kind = "placement";
  options.placement.choices = 6;
  const auto source = MakeSource({.environment = options, .cluster = {}, .seed = 1}).value();
  REQUIRE(source->spec().actions == 6);
  boost::asio::io_context context;
  const auto environments = source->Create(context.get_executor(), 0, 2);
  REQUIRE(environments.size() == 2);
  environments[0]->Reset({}, [&](absl::StatusOr<Transition> start) {
    REQUIRE(start.value().observation.numeric.size() ==
            static_cast<std::size_t>(source->spec().observation_size()));
  });
}

}  // namespace shoal::actor
