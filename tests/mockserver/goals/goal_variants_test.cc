// SPDX-License-Identifier: Apache-2.0
// Plays the goals that apply to variants of all captures (redfish/capture/variant.h) against the
// service itself.
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>

#include "redfish/goals/goal.h"
#include "redfish/goals/plan.h"
#include "tests/mockserver/goals/goal_starts.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

constexpr std::uint64_t kVariantSeeds[] = {1, 2, 3};

}  // namespace

TEST_CASE(
    "On every variant, each goal starts as it says and its expert reaches it at no more cost") {
  std::set<std::string> goals;
  std::set<bool> filled_slots;
  for (const std::string& shipped : ShippedNames()) {
    for (const std::uint64_t seed : kVariantSeeds) {
      const std::string capture = shipped + "~" + std::to_string(seed);
      Instance instance(WorldOf(capture));
      REQUIRE_FALSE(GoalsOf(capture).empty());
      for (const auto& goal : GoalsOf(capture)) {
        for (std::uint64_t number = 0; number < 8; ++number) {
          const auto episode = goal->DrawEpisode(9, number, redfish::Split::kTrain);
          INFO(capture << ": " << goal->goal().name() << " " << number);
          REQUIRE(episode.ok());
          INFO(episode->situation);
          const absl::Status begun = Begin(instance, *episode);
          INFO(begun.message());
          REQUIRE(begun.ok());
          REQUIRE(instance.Evaluate().satisfied == episode->satisfied);
          InstanceClient client(instance);
          const auto outcome = redfish::RunPlan(goal->PlanOf(*episode), client);
          INFO(outcome.status().message());
          REQUIRE(outcome.ok());
          REQUIRE(instance.Evaluate().satisfied);
          REQUIRE(instance.Evaluate().collateral == 0);
          REQUIRE(outcome->mutations == episode->optimum);
          if (episode->situation == "absent" && !client.moves().empty()) {
            filled_slots.insert(client.moves().front().method == "PATCH");
          }
        }
        goals.insert(goal->goal().name());
      }
    }
  }
  REQUIRE(goals.contains("boot_order"));
  // Accounts grow on some variants, and are slots on others.
  REQUIRE(filled_slots.size() == 2);
}

}  // namespace shoal::mockserver
