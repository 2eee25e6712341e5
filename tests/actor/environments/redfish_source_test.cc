// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/redfish_source.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "actor/environments/plan_player.h"
#include "tests/actor/demonstrations/played.h"

namespace shoal::actor {
namespace {

absl::StatusOr<RedfishData> Load(const std::vector<std::int64_t>& goals,
                                 std::int64_t fleet_size = 1) {
  EnvironmentOptions options;
  options.captures = {"openbmc-stock"};
  options.goals = goals;
  options.fleet_size = fleet_size;
  return LoadRedfishData(ConfigOf(options));
}

// Returns the numbers of the goals that are played.
std::set<int> NumbersOf(const RedfishData& data) {
  std::set<int> numbers;
  for (const Pair& pair : data.tasks->pairs) numbers.insert(std::stoi(pair.goal));
  return numbers;
}

TEST_CASE("Without numbers all goals are played where they apply, and no request sequence") {
  const std::set<int> all = NumbersOf(Load({}).value());
  REQUIRE(*all.begin() == 1);
  REQUIRE(all.contains(19));
  // Request sequence 101 applies here, as the next case shows, but is not played.
  REQUIRE(*all.rbegin() < 101);
}

TEST_CASE("Goals and request sequences are played by their numbers") {
  REQUIRE(NumbersOf(Load({3, 101}).value()) == std::set<int>{3, 101});
}

TEST_CASE("Captures are let go once their catalogs are made, but where fleets need them") {
  REQUIRE(Load({1}).value().captures.empty());
  REQUIRE(Load({1}, 2).value().captures.size() == 1);
}

TEST_CASE("An episode's limit follows from what the expert of its pair needs, whatever the seed") {
  EnvironmentOptions options;
  options.captures = {"dmtf-rackmount1"};
  options.goals = {1, 8, 13};
  options.episode_limit = 20;
  options.limit_per_expert_request = 1.5;
  const RedfishData data = LoadInProcess(options);
  const std::size_t operator_pair = PairOf(data, "8 add_operator");
  PlanPlayer expert(data);
  const auto played = expert.Play(operator_pair, 0);
  INFO(played.status());
  REQUIRE(played.ok());
  REQUIRE(data.tasks->limits[PairOf(data, "1 power_on")] == kShortestLimit);
  REQUIRE(data.tasks->limits[operator_pair] >=
          static_cast<std::int64_t>(1.5 * played->facts.steps));
  REQUIRE(data.tasks->limits[operator_pair] < options.episode_limit);
  // Its expert needs more than two thirds of the highest limit.
  REQUIRE(data.tasks->limits[PairOf(data, "13 secure_boot_chain")] == options.episode_limit);

  options.access = "http";
  const RedfishData remote = LoadRedfishData(ConfigOf(options, /*seed=*/77)).value();
  REQUIRE(remote.tasks->limits == data.tasks->limits);
  REQUIRE(remote.worlds.empty());

  options.limit_per_expert_request = 0;
  const RedfishData plain = LoadRedfishData(ConfigOf(options)).value();
  REQUIRE(plain.tasks->limits == std::vector<std::int64_t>(3, options.episode_limit));
}

TEST_CASE("Where half of the requests may fail, an episode's limit is twice as high") {
  EnvironmentOptions options;
  options.captures = {"dmtf-rackmount1"};
  options.goals = {8};
  options.episode_limit = 200;
  options.limit_per_expert_request = 10.5;
  const std::int64_t sound = LoadInProcess(options).tasks->limits.at(0);
  options.faults.rate = 0.5;
  const std::int64_t failing = LoadInProcess(options).tasks->limits.at(0);
  REQUIRE(sound > kShortestLimit);
  REQUIRE(sound < options.episode_limit / 2);
  REQUIRE(failing <= 2 * sound);
  // Both are rounded up.
  REQUIRE(failing >= 2 * sound - 1);
}

TEST_CASE("A real host is not made to fail") {
  EnvironmentOptions options;
  options.captures = {"openbmc-stock"};
  options.access = "host";
  options.host.url = "https://127.0.0.1:1";
  const runtime::ClusterOptions cluster;
  REQUIRE(FindAddresses(ConfigOf(options)).ok());
  options.faults.latency_ms = 1;
  const absl::Status refused = FindAddresses(ConfigOf(options)).status();
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).find("environment.faults.latency_ms") != std::string::npos);
}

TEST_CASE("A number that is neither a goal's nor a sequence's is named") {
  const absl::Status unknown = Load({3, 77}).status();
  REQUIRE(unknown.code() == absl::StatusCode::kNotFound);
  REQUIRE(std::string(unknown.message()).find("no goal 77") != std::string::npos);
}

}  // namespace
}  // namespace shoal::actor
