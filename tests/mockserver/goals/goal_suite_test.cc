// SPDX-License-Identifier: Apache-2.0
// Plays every goal of the suite against the service itself, on every capture that it applies to.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mockserver/faults/fault.h"
#include "platform/runtime/random.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/plan.h"
#include "tests/mockserver/goals/goal_starts.h"
#include "tests/mockserver/service/services.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

using redfish::Episode;
using redfish::Split;

std::string Label(const redfish::AppliedGoal& goal) {
  return std::to_string(goal.goal().id()) + " " + goal.goal().name();
}

// A client whose service is busy, or whose answer is lost, for every fifth request.
class FaultyClient final : public InstanceClient {
 public:
  FaultyClient(Instance& instance, std::uint64_t seed) : InstanceClient(instance), random_(seed) {}

  redfish::PlanReply Send(const redfish::PlanRequest& request) override {
    if (random_.Uniform() >= 0.2) return InstanceClient::Send(request);
    switch (random_.Below(3)) {
      case 0:
        return {.status = 503, .body = nullptr, .location = "", .token = ""};
      case 1:
        return {.status = 412, .body = nullptr, .location = "", .token = ""};
      default:
        InstanceClient::Send(request);
        return {.status = 0, .body = nullptr, .location = "", .token = ""};
    }
  }

 private:
  runtime::Random random_;
};

constexpr std::int64_t kFirstReadingGoal = 201;

struct WrongOrder {
  const char* goal;
  const char* situation;
  // The numbers of the expert's requests, counted from 0, in the order of sending.
  std::vector<std::size_t> order;
};

// Episodes of goals with targets have no situation.
const std::vector<WrongOrder> kWrongOrders = {
    {"pxe_once", "", {1, 0}},
    {"session_hygiene", "stale_1", {1, 0, 2, 3}},
    {"forced_password", "must_change", {1, 0, 2}},
    {"forced_password", "must_change", {0, 2, 1}},
    {"bios_attribute", "other_value", {1, 0}},
    {"secure_boot_chain", "legacy", {2, 0, 1, 3}},
    {"secure_boot_chain", "legacy", {1, 0, 2, 3}},
    {"secure_boot_chain", "off", {1, 0}},
    {"bios_password", "both", {0, 2, 1}},
    {"bios_defaults", "drifted", {0, 2, 1}},
    {"bios_defaults", "drifted", {2, 0, 1}},
    {"bios_defaults", "drifted", {1, 2, 0}},
    {"raid1", "stripe", {2, 0, 1, 3}},
    {"iso_boot", "stale_image", {1, 0, 2, 3, 4}},
    {"iso_boot", "stale_image", {0, 1, 3, 2, 4}},
    {"iso_boot", "stale_image", {0, 1, 2, 4, 3}},
    {"firmware_update", "old", {1, 0}},
    {"event_pipeline", "dead_1", {0, 2, 1}},
    // The first order has no reset between the two changes, the second creates the volume after the
    // last reset, the third subscribes after it, and the fourth ends the sessions before the last
    // login.
    {"commission_server",
     "legacy_stripe",
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 11, 13, 14, 15, 16, 17}},
    {"commission_server",
     "legacy_stripe",
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 13, 15, 16, 17}},
    {"commission_server",
     "legacy_stripe",
     {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 7, 15, 16, 17}},
    {"commission_server",
     "legacy_stripe",
     {0, 1, 16, 17, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
};

// Returns an episode that starts in the situation or, without a situation, has as many mutations.
Episode EpisodeFor(const redfish::AppliedGoal& goal, const WrongOrder& wrong) {
  for (std::uint64_t number = 0;; ++number) {
    REQUIRE(number < 1000);
    Episode episode = *goal.DrawEpisode(5, number, Split::kTrain);
    const bool is_long = episode.optimum == static_cast<std::int64_t>(wrong.order.size());
    if (episode.situation == wrong.situation && is_long) return episode;
  }
}

}  // namespace

TEST_CASE("Every start holds its goal exactly when the episode says so, with nothing collateral") {
  for (const std::string& capture : ShippedNames()) {
    Instance instance(WorldOf(capture));
    for (const auto& goal : GoalsOf(capture)) {
      for (const Split split : {Split::kTrain, Split::kEvaluate}) {
        for (std::uint64_t number = 0; number < 20; ++number) {
          const Episode episode = *goal->DrawEpisode(3, number, split);
          INFO(capture << ": " << Label(*goal) << " " << episode.situation << " " << number);
          const absl::Status status = Begin(instance, episode);
          INFO(status.message());
          REQUIRE(status.ok());
          REQUIRE(instance.Evaluate().satisfied == episode.satisfied);
          REQUIRE(instance.Evaluate().collateral == 0);
          REQUIRE(instance.history().empty());
        }
      }
    }
  }
}

TEST_CASE("Every expert plan reaches its goal in as many mutations as the start says are needed") {
  std::map<std::string, std::set<std::string>> reached;
  for (const std::string& capture : ShippedNames()) {
    Instance instance(WorldOf(capture));
    for (const auto& goal : GoalsOf(capture)) {
      for (std::uint64_t number = 0; number < 24; ++number) {
        const Episode episode = *goal->DrawEpisode(7, number, Split::kTrain);
        INFO(capture << ": " << Label(*goal) << " " << episode.situation << " " << number);
        REQUIRE(Begin(instance, episode).ok());
        InstanceClient client(instance);
        const auto outcome = redfish::RunPlan(goal->PlanOf(episode), client);
        INFO(outcome.status().message());
        REQUIRE(outcome.ok());
        REQUIRE(instance.Evaluate().satisfied);
        REQUIRE(instance.Evaluate().collateral == 0);
        REQUIRE(outcome->mutations == episode.optimum);
      }
      reached[Label(*goal)].insert(capture);
    }
  }
  int widely = 0;
  for (const auto& [goal, captures] : reached) widely += captures.size() >= 3 ? 1 : 0;
  REQUIRE(widely >= 12);
}

TEST_CASE("No fixed request reaches a goal that needs reading in more than half of its starts") {
  std::map<std::string, std::set<std::string>> tried;
  for (const std::string& capture : ShippedNames()) {
    Instance instance(WorldOf(capture));
    for (const auto& goal : GoalsOf(capture)) {
      if (goal->goal().id() < kFirstReadingGoal) continue;
      std::map<Move, int> moves;
      int starts = 0;
      for (std::uint64_t number = 0; starts < 60; ++number) {
        REQUIRE(number < 1000);
        const Episode episode = *goal->DrawEpisode(11, number, Split::kEvaluate);
        if (episode.satisfied) continue;
        ++starts;
        REQUIRE(Begin(instance, episode).ok());
        InstanceClient client(instance);
        REQUIRE(redfish::RunPlan(goal->PlanOf(episode), client).ok());
        REQUIRE(client.moves().size() == 1);
        ++moves[client.moves().front()];
      }
      for (const auto& [move, count] : moves) {
        INFO(capture << ": " << Label(*goal) << " " << move.uri);
        REQUIRE(count <= starts / 2);
      }
      tried[Label(*goal)].insert(capture);
    }
  }
  REQUIRE(tried.size() == 6);
  for (const auto& [goal, captures] : tried) REQUIRE(captures.size() >= 6);
}

TEST_CASE("The expert's requests in a wrong order do not reach the goal") {
  std::map<std::string, int> tried;
  for (const std::string& capture : ShippedNames()) {
    Instance instance(WorldOf(capture));
    for (const WrongOrder& wrong : kWrongOrders) {
      const redfish::AppliedGoal* const goal = FindGoal(capture, wrong.goal);
      if (goal == nullptr || !CanStart(*goal, wrong.situation)) continue;
      const Episode episode = EpisodeFor(*goal, wrong);
      INFO(capture << ": " << wrong.goal << " " << wrong.situation);
      REQUIRE(Begin(instance, episode).ok());
      InstanceClient expert(instance);
      REQUIRE(redfish::RunPlan(goal->PlanOf(episode), expert).ok());
      REQUIRE(instance.Evaluate().satisfied);
      REQUIRE(expert.moves().size() == wrong.order.size());
      REQUIRE(Begin(instance, episode).ok());
      std::string token;
      for (const std::size_t i : wrong.order) Make(instance, expert.moves()[i], token);
      REQUIRE_FALSE(instance.Evaluate().satisfied);
      ++tried[std::string(wrong.goal)];
    }
  }
  for (const WrongOrder& wrong : kWrongOrders) REQUIRE(tried[wrong.goal] > 0);
}

TEST_CASE("A volume that a goal does not speak of is not to be deleted for it") {
  redfish::Capture::Resources resources = WorldOf("hpe-dl380a-gen12")->capture().resources();
  const std::string volumes = "/redfish/v1/Systems/1/Storage/DE010000/Volumes";
  Json other = resources.at(volumes + "/1");
  other.update({{"@odata.id", volumes + "/2"}, {"Id", "2"}, {"RAIDType", "RAID5"}});
  other.erase("Links");
  resources[volumes + "/2"] = std::move(other);
  resources.at(volumes)["Members"].push_back({{"@odata.id", volumes + "/2"}});
  const auto capture = redfish::Capture::FromResources("two-volumes", std::move(resources)).value();
  Instance instance(World::Create(capture, TestSchema(), {}).value());
  const auto goal =
      redfish::AppliedGoal::Create(*redfish::Goal::Load("data/goals/16-raid1.toml"), *capture, {});
  const Episode episode = *goal.value()->DrawEpisode(1, 0, Split::kTrain);
  REQUIRE(Begin(instance, episode).ok());
  InstanceClient client(instance);
  REQUIRE(redfish::RunPlan(goal.value()->PlanOf(episode), client).ok());
  REQUIRE(instance.Evaluate().satisfied);
  REQUIRE(Delete(instance, volumes + "/2").status < 300);
  REQUIRE_FALSE(instance.Evaluate().satisfied);
}

TEST_CASE("An operator may go into any empty slot, and nobody into another one") {
  const auto world = WorldOf("dell-r750");
  const std::string accounts = "/redfish/v1/AccountService/Accounts/";
  const auto goal = redfish::AppliedGoal::Create(
      *redfish::Goal::Load("data/goals/08-add_operator.toml"), world->capture(), {});
  const Episode episode = EpisodeFor(**goal, {.goal = "", .situation = "absent", .order = {0}});
  const auto account = [&](const Json& name) {
    return Json{{"UserName", name},
                {"Password", episode.values.at("Password")},
                {"RoleId", "Operator"},
                {"Enabled", true}};
  };
  const auto after = [&](const std::vector<std::pair<std::string, Json>>& fillings) {
    Instance instance(world);
    REQUIRE(Begin(instance, episode).ok());
    for (const auto& [slot, name] : fillings) {
      REQUIRE(Patch(instance, accounts + slot, account(name)).status < 300);
    }
    const redfish::Progress evaluation = instance.Evaluate();
    return std::pair(evaluation.satisfied, evaluation.collateral > 0);
  };
  const Json wanted = episode.values.at("UserName");
  for (const char* slot : {"1", "7", "16"})
    REQUIRE(after({{slot, wanted}}) == std::pair(true, false));
  REQUIRE(after({{"7", wanted}, {"9", "another"}}).first == false);
  REQUIRE(after({{"3", wanted}}).second);
  REQUIRE(after({{"7", wanted}, {"3", "another"}}).second);
}

TEST_CASE("Expert plans reach their goals on a service that fails every fifth time") {
  std::uint64_t seed = 0;
  for (const std::string& capture : ShippedNames()) {
    Instance instance(WorldOf(capture));
    for (const auto& goal : GoalsOf(capture)) {
      for (std::uint64_t number = 0; number < 8; ++number) {
        const Episode episode = *goal->DrawEpisode(9, number, Split::kTrain);
        INFO(capture << ": " << Label(*goal) << " " << episode.situation << " " << number);
        REQUIRE(Begin(instance, episode).ok());
        FaultyClient client(instance, ++seed);
        const auto outcome = redfish::RunPlan(goal->PlanOf(episode), client, {.attempts = 40});
        INFO(outcome.status().message());
        REQUIRE(outcome.ok());
        REQUIRE(instance.Evaluate().satisfied);
      }
    }
  }
}

TEST_CASE("Expert plans reach their goals on a service that makes each change by a task") {
  for (const std::int64_t milliseconds : {0, 7'000}) {
    const Json task = {{"name", "task"}, {"path", "/redfish/v1/**"}, {"task_ms", milliseconds}};
    const auto faults = FaultSet::Parse({{"faults", Json::array({task})}}).value();
    for (const std::string& capture : ShippedNames()) {
      Instance instance(WorldOf(capture), {.faults = faults});
      int accepted = 0;
      for (const auto& goal : GoalsOf(capture)) {
        for (std::uint64_t number = 0; number < 6; ++number) {
          const Episode episode = *goal->DrawEpisode(13, number, Split::kTrain);
          INFO(capture << ": " << Label(*goal) << " " << episode.situation << " " << number << " "
                       << milliseconds);
          REQUIRE(Begin(instance, episode).ok());
          InstanceClient client(instance);
          const auto outcome = redfish::RunPlan(goal->PlanOf(episode), client);
          INFO(outcome.status().message());
          REQUIRE(outcome.ok());
          REQUIRE(instance.Evaluate().satisfied);
          REQUIRE(instance.Evaluate().collateral == 0);
          // Time that passes may bring what the plan would otherwise have to ask for.
          REQUIRE(outcome->mutations <= episode.optimum);
          accepted += Count(instance, kFaultRecord);
        }
      }
      const Json* const root = WorldOf(capture)->capture().Find(redfish::kServiceRoot);
      REQUIRE((accepted > 0) == root->contains("Tasks"));
    }
  }
}

}  // namespace shoal::mockserver
