// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/local_cluster.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "platform/runtime/config.h"

namespace shoal::cli {
namespace {

std::vector<PlannedProcess> Plan(bool in_process, bool mockserver) {
  ClusterPlan plan;
  plan.programs = "bin";
  plan.config_path = "run/config.toml";
  plan.logs = "run/logs";
  plan.cluster.replay = {"127.0.0.1:1", "127.0.0.1:2"};
  plan.cluster.replay_shards = 2;
  plan.cluster.inference = {"127.0.0.1:3"};
  plan.cluster.learner = "127.0.0.1:4";
  plan.mockserver = mockserver;
  plan.learner_finishes = true;
  plan.in_process = in_process;
  auto planned = PlanCluster(plan);
  REQUIRE(planned.ok());
  return *std::move(planned);
}

std::vector<std::string> Measured(const std::vector<PlannedProcess>& processes) {
  std::vector<std::string> names;
  for (const PlannedProcess& process : processes) {
    for (const MetricsAddress& part : process.metrics) names.push_back(part.name);
  }
  return names;
}

}  // namespace

TEST_CASE("a cluster in one process is measured under the same names as one of programs") {
  const std::vector<PlannedProcess> together = Plan(true, false);
  REQUIRE(together.size() == 1);
  REQUIRE(together[0].spec.command.front() == "bin/local");
  REQUIRE(together[0].spec.finishes);
  const std::vector<PlannedProcess> apart = Plan(false, false);
  REQUIRE(apart.size() == 5);
  REQUIRE(Measured(together) == Measured(apart));
  // The program is told the same addresses in the same order.
  const std::vector<std::string>& command = together[0].spec.command;
  const auto flag = std::find(command.begin(), command.end(), "--metrics");
  REQUIRE(flag != command.end());
  std::string addresses;
  for (const MetricsAddress& part : together[0].metrics) addresses += part.address + ",";
  REQUIRE(*(flag + 1) + "," == addresses);
}

TEST_CASE("the supervisor of several ranks is told how often it may start them again") {
  ClusterPlan plan;
  plan.cluster.learner_max_restarts = 7;
  plan.cluster.actors = 0;
  const auto command_of_learner = [&](std::int64_t ranks) {
    plan.cluster.learner_ranks = ranks;
    const std::vector<PlannedProcess> processes = PlanCluster(plan).value();
    REQUIRE(processes.size() == 1);
    std::string command;
    for (const std::string& part : processes[0].spec.command) command += part + " ";
    return command;
  };
  REQUIRE(command_of_learner(2).ends_with("--world-size 2 --max-restarts 7 "));
  // One rank has no supervisor.
  REQUIRE(command_of_learner(1).find("--max-restarts") == std::string::npos);
}

TEST_CASE("a negative number of restarts of ranks is refused by its knob") {
  runtime::ClusterOptions cluster;
  runtime::Config config;
  config.Add("cluster", cluster);
  REQUIRE(config.Load("", {"cluster.learner_max_restarts=0"}).ok());
  REQUIRE(cluster.learner_max_restarts == 0);
  const absl::Status refused = config.Load("", {"cluster.learner_max_restarts=-1"});
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused).find("learner_max_restarts") != std::string::npos);
}

TEST_CASE("the mock server stays a process of its own, and ends after the one that uses it") {
  const std::vector<PlannedProcess> processes = Plan(true, true);
  REQUIRE(processes.size() == 2);
  REQUIRE(processes[0].spec.name == "mockserver-0");
  REQUIRE(processes[0].spec.parts.empty());
  REQUIRE(processes[1].spec.name == "local-0");
  REQUIRE(processes[1].stage < processes[0].stage);
}

}  // namespace shoal::cli
