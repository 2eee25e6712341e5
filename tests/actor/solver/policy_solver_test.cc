// SPDX-License-Identifier: Apache-2.0
#include "actor/solver/policy_solver.h"

#include <catch2/catch.hpp>
#include <set>

#include "operate/goal_choice.h"
#include "redfish/capture/landmarks.h"
#include "redfish/catalog/catalog.h"
#include "tests/inference/client/scripted_server.h"

namespace shoal::actor {
namespace {

using test::Scripted;
using test::ScriptedServer;
using test::SeenRow;

// A server that is off, its twin, and the goal that it be on.
struct DarkServer {
  std::shared_ptr<const redfish::Schema> schema =
      redfish::Schema::Load("data/schema/redfish.schema.zst").value();
  redfish::GoalSuite suite = redfish::LoadGoals("data/goals").value();
  std::string system;
  std::shared_ptr<const redfish::Capture> capture = TurnedOff();
  std::shared_ptr<const redfish::AppliedGoal> goal =
      redfish::AppliedGoal::Create(operate::FindGoal(suite, "power_on").value(), *capture, suite,
                                   redfish::Starts::kPresent)
          .value();
  redfish::Episode episode = goal->EpisodeWith({}).value();
  std::unique_ptr<operate::Twin> twin =
      operate::Twin::Create(capture, schema, {.watch = episode.watch}).value();
  std::shared_ptr<const redfish::Catalog> catalog =
      redfish::Catalog::Build(*capture, *schema).value();

  std::shared_ptr<const redfish::Capture> TurnedOff() {
    const auto captured = redfish::Capture::Load("data/captures/dmtf-rackmount1.tar.xz").value();
    redfish::Capture::Resources resources = captured->resources();
    const redfish::Landmarks landmarks = redfish::FindLandmarks(*captured);
    system = landmarks.system;
    resources.at(landmarks.system)["PowerState"] = "Off";
    resources.at(landmarks.chassis)["PowerState"] = "Off";
    return redfish::Capture::FromResources("dark", resources).value();
  }

  // Returns the action of a request that leaves nothing open.
  std::int64_t ActionOf(const std::string& method, const std::string& uri,
                        nlohmann::json body = nullptr) const {
    return redfish::FindCandidate(
        catalog->candidates(),
        {.method = method, .uri = uri, .body = std::move(body), .token = ""});
  }
  std::int64_t Reset(const std::string& type) const {
    return ActionOf("POST", system + "/Actions/ComputerSystem.Reset", {{"ResetType", type}});
  }
};

// Answers the rows of each episode with these actions, and the last of them from then on.
ScriptedServer::Script Play(std::vector<std::int64_t> actions) {
  return [actions = std::move(actions), next = std::size_t{0}](const SeenRow& row) mutable {
    Scripted answer = test::Agree(row);
    if ((row.flags & proto::ROW_FLAG_FIRST) != 0) next = 0;
    answer.action = actions[std::min(next++, actions.size() - 1)];
    return answer;
  };
}

PolicySolver SolverOf(
    const DarkServer& dark, const std::string& address,
    PolicySolver::Check check = [] { return absl::OkStatus(); }) {
  return PolicySolver({.inference = address, .name = "a script", .attempts = 3}, dark.schema,
                      std::move(check));
}

}  // namespace

TEST_CASE("A policy solves a goal, and what it sent in vain is no part of the solution") {
  DarkServer dark;
  const std::int64_t needless = dark.ActionOf("PATCH", dark.system, {{"IndicatorLED", "Lit"}});
  const std::vector<std::int64_t> actions = {dark.ActionOf("GET", dark.system), needless,
                                             dark.Reset("GracefulShutdown"), dark.Reset("On"),
                                             redfish::FindWait(dark.catalog->candidates())};
  CAPTURE(actions);
  REQUIRE(std::all_of(actions.begin(), actions.end(), [](std::int64_t one) { return one >= 0; }));
  ScriptedServer server(Play(actions));
  REQUIRE(SolverOf(dark, server.address()).Solve(*dark.goal, dark.episode, *dark.twin).ok());
  REQUIRE(dark.episode.watch->predicate().Evaluate(*dark.twin));
  const std::vector<operate::Step> steps = dark.twin->TakeSteps();
  REQUIRE(steps.size() == 1);
  REQUIRE(steps.front().body == nlohmann::json({{"ResetType", "On"}}));
  REQUIRE(dark.twin->touched().contains(dark.system));
}

TEST_CASE("A policy that fails is asked in other sentences, and the last failure is told") {
  DarkServer dark;
  dark.episode.text = "Power to the people.";
  ScriptedServer server(Play({redfish::FindWait(dark.catalog->candidates())}));
  const absl::Status failed =
      SolverOf(dark, server.address()).Solve(*dark.goal, dark.episode, *dark.twin);
  REQUIRE(absl::IsFailedPrecondition(failed));
  REQUIRE(std::string(failed.message()).find("the policy made 3 attempts") != std::string::npos);
  std::set<std::string> sentences;
  for (const SeenRow& row : server.rows()) {
    if ((row.flags & proto::ROW_FLAG_FIRST) != 0) sentences.insert(row.content_keys.front());
  }
  REQUIRE(sentences.size() == 3);
  const auto contents = server.contents();
  REQUIRE(std::any_of(contents.begin(), contents.end(), [](const auto& content) {
    return content.second == "Power to the people.";
  }));
}

TEST_CASE("Solving ends when its caller says why") {
  DarkServer dark;
  const absl::Status ended = SolverOf(dark, "127.0.0.1:1", [] {
                               return absl::CancelledError("enough");
                             }).Solve(*dark.goal, dark.episode, *dark.twin);
  REQUIRE(ended == absl::CancelledError("enough"));
}

}  // namespace shoal::actor
