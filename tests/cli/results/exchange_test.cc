// SPDX-License-Identifier: Apache-2.0
#include "cli/results/exchange.h"

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actor/environments/inprocess_service.h"
#include "actor/environments/plan_player.h"
#include "actor/environments/redfish_environment.h"
#include "tests/actor/demonstrations/played.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::json;
using actor::RedfishData;

EpisodeOutcome Outcome(std::int64_t number, bool reached, const std::string& request,
                       bool exchanged) {
  return {.policy = "learned",
          .goal = "201 remove_role",
          .capture = "a",
          .episode = number,
          .mutations = 1,
          .optimum = 1,
          .reached = reached,
          .exchanged = exchanged,
          .requests = {"GET /redfish/v1/AccountService/Accounts/2 200", request}};
}

RedfishData WorldsOf(bool exchange) {
  return actor::LoadInProcess({.captures = {"dmtf-mpf", "openbmc-stock", "hpe-dl380a-gen12"},
                               .goals = {201, 202, 203, 204},
                               .exchange = exchange});
}

// Returns the request of each step, as in "DELETE /redfish/v1/AccountService/Accounts/2".
std::vector<std::string> RequestsOf(const actor::PlayedEpisode& played) {
  std::vector<std::string> requests;
  for (const actor::PlayedStep& step : played.steps) {
    const auto& list = *step.observation.catalog;
    const Json text = Json::parse(*list.at(static_cast<std::size_t>(step.action)).text);
    requests.push_back(text.value("method", "") + " " + text.value("uri", ""));
  }
  return requests;
}

EpisodeOutcome OutcomeOf(const actor::EpisodeFacts& facts, std::uint64_t episode,
                         std::vector<std::string> requests) {
  return {.policy = "learned",
          .goal = facts.goal,
          .capture = facts.capture,
          .episode = static_cast<std::int64_t>(episode),
          .mutations = facts.mutations,
          .optimum = facts.optimum,
          .satisfied_at_start = facts.satisfied_at_start,
          .reached = facts.success,
          .exchanged = facts.exchanged,
          .requests = std::move(requests)};
}

// Sends the requests, whatever is answered.
EpisodeOutcome Repeat(const RedfishData& data, std::size_t pair, std::uint64_t episode,
                      const std::vector<std::string>& requests) {
  actor::RedfishEnvironment environment(data.tasks,
                                        std::make_unique<actor::InProcessService>(data.worlds),
                                        std::make_shared<actor::ResponseCache>());
  actor::Transition transition = actor::Await(nullptr, [&](actor::Environment::Done done) {
    environment.Reset({.environment_id = 0, .episode = episode, .pair = pair}, std::move(done));
  });
  for (const std::string& request : requests) {
    if (transition.end != actor::End::kNone) break;
    const auto& list = *transition.observation.catalog;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Json text = Json::parse(*list.at(i).text);
      if (text.value("method", "") + " " + text.value("uri", "") != request) continue;
      transition = actor::Await(nullptr, [&](actor::Environment::Done done) {
        environment.Step(static_cast<std::int64_t>(i), std::move(done));
      });
      break;
    }
  }
  return OutcomeOf(environment.facts(), episode, requests);
}

}  // namespace

TEST_CASE("Requests follow a value when each world is solved by a request of its own") {
  const std::string second = "DELETE /redfish/v1/AccountService/Accounts/2 204";
  const std::string third = "DELETE /redfish/v1/AccountService/Accounts/3 204";
  const std::vector<EpisodeOutcome> drawn = {
      Outcome(0, true, second, false), Outcome(1, true, second, false),
      Outcome(2, false, third, false), Outcome(3, true, second, false),
      Outcome(4, true, second, false)};
  std::vector<EpisodeOutcome> exchanged = {
      Outcome(0, true, third, true),    // it follows
      Outcome(1, false, second, true),  // the same request as before
      Outcome(2, true, second, true),   // wrong before
      Outcome(3, true, second, true),   // the value decides nothing
      Outcome(4, true, third, false)};  // nothing was exchanged
  const ExchangeScore score = CompareExchanged(drawn, exchanged);
  REQUIRE(score.pairs == 3);
  REQUIRE(score.followed == 1);
  REQUIRE(score.share() == Approx(1.0 / 3));

  exchanged[0].mutations = 2;  // it tried another one first
  REQUIRE(CompareExchanged(drawn, exchanged).followed == 0);
  exchanged[0].policy = "similarity";
  REQUIRE(CompareExchanged(drawn, exchanged).pairs == 2);
  REQUIRE(CompareExchanged({}, {}).share() == 0.0);
}

TEST_CASE(
    "The expert follows every exchanged value, and a player that does not look follows none") {
  const RedfishData drawn = WorldsOf(false);
  const RedfishData exchanged = WorldsOf(true);
  actor::PlanPlayer one(drawn);
  actor::PlanPlayer other(exchanged);
  std::vector<EpisodeOutcome> expert_drawn;
  std::vector<EpisodeOutcome> expert_exchanged;
  std::vector<EpisodeOutcome> blind_exchanged;
  for (std::size_t pair = 0; pair < drawn.tasks->pairs.size(); ++pair) {
    for (std::uint64_t episode = 0; episode < 12; ++episode) {
      const auto first = one.Play(pair, episode);
      const auto second = other.Play(pair, episode);
      INFO(drawn.tasks->pairs[pair].goal << " " << first.status() << " " << second.status());
      REQUIRE(first.ok());
      REQUIRE(second.ok());
      REQUIRE(first->facts.satisfied_at_start == second->facts.satisfied_at_start);
      const std::vector<std::string> requests = RequestsOf(*first);
      expert_drawn.push_back(OutcomeOf(first->facts, episode, requests));
      expert_exchanged.push_back(OutcomeOf(second->facts, episode, RequestsOf(*second)));
      blind_exchanged.push_back(Repeat(exchanged, pair, episode, requests));
    }
  }
  const ExchangeScore expert = CompareExchanged(expert_drawn, expert_exchanged);
  REQUIRE(expert.pairs >= 50);
  REQUIRE(expert.followed == expert.pairs);
  const ExchangeScore blind = CompareExchanged(expert_drawn, blind_exchanged);
  REQUIRE(blind.pairs == expert.pairs);
  REQUIRE(blind.followed == 0);
}

}  // namespace shoal::cli
