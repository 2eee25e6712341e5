// SPDX-License-Identifier: Apache-2.0
// The rule of sessions: a client that creates a session by POST uses it from then on.
#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "actor/environments/inprocess_service.h"
#include "actor/environments/redfish_environment.h"
#include "tests/actor/demonstrations/played.h"

namespace shoal::actor {
namespace {

const std::string kSessions = "/redfish/v1/SessionService/Sessions";

// Gives scripted answers and records the requests.
class ScriptedService final : public RedfishService {
 public:
  struct Script {
    std::deque<ServiceResponse> answers;
    std::vector<std::string> tokens;
  };
  explicit ScriptedService(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  void Reset(const std::string&, const redfish::Episode&, ResetDone done) override {
    done(redfish::Progress{});
  }
  void Send(const ServiceRequest& request, Done done) override {
    script_->tokens.push_back(request.token);
    ServiceResponse answer{.status = 200};
    if (!script_->answers.empty()) {
      answer = std::move(script_->answers.front());
      script_->answers.pop_front();
    }
    done(std::move(answer));
  }
  void Advance(std::chrono::seconds, Done done) override { done(ServiceResponse{}); }

 private:
  const std::shared_ptr<Script> script_;
};

const RedfishData& SessionData() {
  static const RedfishData data = LoadInProcess({.captures = {"dmtf-rackmount1"}});
  return data;
}

std::int64_t Find(const std::string& method, const std::string& uri) {
  const auto& candidates =
      SessionData().tasks->catalogs.at("dmtf-rackmount1").catalog->candidates();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool is_it = candidates[i].method == method && candidates[i].uri == uri;
    if (is_it) return static_cast<std::int64_t>(i);
  }
  FAIL("no " << method << " " << uri);
  return -1;
}

class SessionPlayer {
 public:
  explicit SessionPlayer(std::unique_ptr<RedfishService> service)
      : environment_(SessionData().tasks, std::move(service), std::make_shared<ResponseCache>()) {
    environment_.Reset({.environment_id = 1}, [](const auto& reset) { REQUIRE(reset.ok()); });
  }
  // Takes the action, and the first choice for each value that its request needs.
  Observation Step(std::int64_t action) {
    Observation observation;
    do {
      environment_.Step(action, [&](absl::StatusOr<Transition> transition) {
        REQUIRE(transition.ok());
        observation = std::move(transition->observation);
      });
      action = 0;
    } while (environment_.draft().is_open());
    return observation;
  }

 private:
  RedfishEnvironment environment_;
};

ServiceResponse Login(const std::string& token) {
  return {.status = 201, .token = token, .location = kSessions + "/7"};
}

std::vector<std::string> TokensAfter(std::deque<ServiceResponse> answers,
                                     const std::vector<std::int64_t>& actions) {
  const auto script = std::make_shared<ScriptedService::Script>();
  script->answers = std::move(answers);
  SessionPlayer player(std::make_unique<ScriptedService>(script));
  for (const std::int64_t action : actions) player.Step(action);
  return script->tokens;
}

TEST_CASE("A session that was made goes with every later request, the newest one") {
  const std::int64_t login = Find("POST", kSessions);
  const std::int64_t look = Find("GET", kSessions);
  REQUIRE(TokensAfter({Login("one")}, {look, login}) == std::vector<std::string>{"", ""});
  REQUIRE(TokensAfter({Login("one"), {.status = 403}, Login("two")}, {login, look, login, look}) ==
          std::vector<std::string>{"", "one", "one", "two"});
}

TEST_CASE("A token that the service refuses is not sent again") {
  const std::int64_t login = Find("POST", kSessions);
  const std::int64_t look = Find("GET", kSessions);
  REQUIRE(TokensAfter({Login("one"), {.status = 401}}, {login, look, look}) ==
          std::vector<std::string>{"", "one", ""});
}

// A login whose session the environment can delete by a candidate of its own.
ServiceResponse ShownLogin() {
  ServiceResponse login = Login("one");
  login.body = std::make_shared<const std::string>(
      R"({"@odata.id":")" + kSessions +
      R"(/7","@odata.type":"#Session.v1_3_0.Session","Name":"S"})");
  return login;
}

// Logs in and returns the action that deletes the session.
std::int64_t LogIn(SessionPlayer& player) {
  const auto catalog = player.Step(Find("POST", kSessions)).catalog;
  std::int64_t logout = -1;
  for (std::size_t i = catalog->base()->size(); i < catalog->size(); ++i) {
    const bool deletes = catalog->at(i).text->find("\"DELETE\"") != std::string::npos;
    if (deletes) logout = static_cast<std::int64_t>(i);
  }
  REQUIRE(logout >= 0);
  return logout;
}

TEST_CASE("A session that was deleted is used no more") {
  const auto script = std::make_shared<ScriptedService::Script>();
  script->answers = {ShownLogin(), {.status = 403}, {.status = 204}};
  SessionPlayer player(std::make_unique<ScriptedService>(script));
  const std::int64_t logout = LogIn(player);
  player.Step(logout);
  player.Step(logout);
  player.Step(Find("GET", kSessions));
  REQUIRE(script->tokens == std::vector<std::string>{"", "one", "one", ""});
}

TEST_CASE("A session whose end was only accepted is still used") {
  const auto script = std::make_shared<ScriptedService::Script>();
  script->answers = {ShownLogin(), {.status = 202}};
  SessionPlayer player(std::make_unique<ScriptedService>(script));
  player.Step(LogIn(player));
  player.Step(Find("GET", kSessions));
  REQUIRE(script->tokens == std::vector<std::string>{"", "one", "one"});
}

TEST_CASE("A service in process takes the token and gives it") {
  mockserver::InstanceOptions options;
  options.authentication = mockserver::Authentication::kRequired;
  InProcessService service(SessionData().worlds, options);
  redfish::Episode episode;
  episode.watch = *redfish::Watch::Parse(
      {{"predicate", {{"exists", {{"uri", kSessions}, {"pointer", "/Id"}}}}}});
  const std::string account = "/redfish/v1/AccountService/Accounts/1";
  episode.start = {
      {.uri = account, .pointer = "", .value = {{"Password", "Secret-123"}}, .method = "PATCH"}};
  service.Reset("dmtf-rackmount1", episode, [](const auto& reset) { REQUIRE(reset.ok()); });
  ServiceResponse answer;
  const auto send = [&](const ServiceRequest& request) {
    service.Send(request, [&](auto response) { answer = *std::move(response); });
  };
  const std::string user =
      SessionData().worlds.at("dmtf-rackmount1")->capture().Find(account)->at("UserName");
  const nlohmann::json login = {{"UserName", user}, {"Password", "Secret-123"}};
  send({.method = "POST", .uri = kSessions, .body = login});
  REQUIRE(answer.status == 201);
  REQUIRE_FALSE(answer.token.empty());
  REQUIRE(answer.location.starts_with(kSessions));
  const std::string token = answer.token;
  send({.method = "GET", .uri = account, .token = token});
  REQUIRE(answer.status != 401);
  send({.method = "GET", .uri = account, .token = "no such token"});
  REQUIRE(answer.status == 401);
}

}  // namespace
}  // namespace shoal::actor
