// SPDX-License-Identifier: Apache-2.0
// Goals that need something that appears during an episode, or a value that is a list, are reached
// by the actions that the environment offers.
#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "actor/environments/inprocess_service.h"
#include "actor/environments/redfish_environment.h"
#include "tests/actor/demonstrations/played.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;

const std::string kAccountsUri = "/redfish/v1/AccountService/Accounts";

const RedfishData& MembersData() {
  static const RedfishData data =
      LoadInProcess({.captures = {"openbmc-stock", "dell-r750"}, .goals = {6, 8}});
  return data;
}

class MembersPlayer {
 public:
  // Starts an episode of the goal in the situation.
  MembersPlayer(const std::string& goal, const std::string& capture, const std::string& situation)
      : environment_(MembersData().tasks, std::make_unique<InProcessService>(MembersData().worlds),
                     std::make_shared<ResponseCache>()) {
    std::size_t pair = 0;
    const auto& pairs = MembersData().tasks->pairs;
    while (pairs.at(pair).goal != goal || pairs.at(pair).capture != capture) ++pair;
    for (std::uint64_t episode = 0; environment_.episode().situation != situation; ++episode) {
      REQUIRE(episode < 100);
      environment_.Reset({.environment_id = 1, .episode = episode, .pair = pair}, Keep());
    }
  }

  // Takes the first action of the list with this request and gives its slots the goal's values. A
  // null `body` matches any.
  void Ask(const std::string& method, const std::string& uri, const Json& body = nullptr) {
    const auto& list = *transition_.observation.catalog;
    const std::string without_names =
        redfish::UriWithoutNames(uri, redfish::NamesOf(environment_.episode().text));
    const std::string& told = without_names.empty() ? uri : without_names;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Json sentence = Json::parse(*list.at(i).text);
      const bool is_it = sentence.at("method") == method && sentence.at("uri") == told &&
                         (body.is_null() || sentence.at("body") == body);
      if (!is_it) continue;
      environment_.Step(static_cast<std::int64_t>(i), Keep());
      while (environment_.draft().is_open()) {
        const std::int64_t choice = environment_.draft().Find(Filled(sentence.at("body")));
        REQUIRE(choice >= 0);
        environment_.Step(choice, Keep());
      }
      return;
    }
    FAIL("not offered: " << method << " " << uri << " " << body.dump());
  }

  std::string Value(const std::string& slot) const {
    return environment_.episode().slot_values.at(slot).get<std::string>();
  }
  void RequireReached(int mutations) const {
    const EpisodeFacts facts = environment_.facts();
    REQUIRE(facts.clean);
    REQUIRE(facts.mutations == mutations);
    REQUIRE(facts.optimum == mutations);
    REQUIRE(facts.client_errors == 0);
  }

 private:
  // Returns the body with the goal's values in its slots.
  Json Filled(const Json& body) const {
    for (const auto& [name, value] : environment_.episode().slot_values) {
      const std::string slot = redfish::SlotText(name);
      if (body == slot || body == Json::array({slot})) return value;
    }
    Json filled = body;
    if (filled.is_structured()) {
      for (Json& member : filled) member = Filled(member);
    }
    return filled;
  }
  Environment::Done Keep() {
    return [this](absl::StatusOr<Transition> transition) {
      INFO(transition.status());
      REQUIRE(transition.ok());
      transition_ = *std::move(transition);
    };
  }

  Transition transition_;
  RedfishEnvironment environment_;
};

const Json kOperator = {
    {"UserName", "<goal.UserName>"}, {"Password", "<goal.Password>"}, {"RoleId", "Operator"}};

}  // namespace

TEST_CASE("An operator who is missing is added by one POST") {
  MembersPlayer player("8 add_operator", "openbmc-stock", "absent");
  player.Ask("POST", kAccountsUri, kOperator);
  player.RequireReached(1);
}

TEST_CASE("An account that is there is found by reading, and put right by what its body allows") {
  for (const auto& [situation, body] : {std::pair("another_role", Json{{"RoleId", "Operator"}}),
                                        {"disabled", {{"Enabled", true}}}}) {
    MembersPlayer player("8 add_operator", "openbmc-stock", situation);
    const std::string account = kAccountsUri + "/" + player.Value("UserName");
    player.Ask("GET", kAccountsUri);
    player.Ask("GET", account);
    player.Ask("PATCH", account, body);
    player.RequireReached(1);
  }
}

TEST_CASE("A slot takes the operator in one PATCH, whatever was in it") {
  Json filled = kOperator;
  filled["Enabled"] = true;
  for (const char* situation : {"absent", "another_role", "disabled"}) {
    MembersPlayer player("8 add_operator", "dell-r750", situation);
    player.Ask("PATCH", kAccountsUri + "/1", filled);
    player.RequireReached(1);
  }
}

TEST_CASE("A boot order goes into its slot as a whole") {
  MembersPlayer player("6 boot_order", "dell-r750", "other_order");
  // The order is that of the list which was read, with another member first.
  player.Ask("GET", "/redfish/v1/Systems/System.Embedded.1");
  player.Ask("PATCH", "/redfish/v1/Systems/System.Embedded.1",
             {{"Boot", {{"BootOrder", {"<goal.BootOrder>"}}}}});
  player.RequireReached(1);
}

}  // namespace shoal::actor
