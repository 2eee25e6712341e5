// SPDX-License-Identifier: Apache-2.0
// Tests what clients teach a running service through its control API, by rules and by a program.
#include <catch2/catch.hpp>
#include <future>

#include "mockserver/process/external_caller.h"
#include "mockserver/rules/rules.h"
#include "platform/http/responder.h"
#include "platform/runtime/bounded_queue.h"
#include "tests/mockserver/process/running.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

const std::string kReset = kOpenBmcSystem + "/Actions/ComputerSystem.Reset";

http::ServerResponse Answer(const Json& body, int status = 200) {
  return {.status = status, .body = std::make_shared<const std::string>(body.dump())};
}

// A program outside, which answers questions with the result of `behaviour`.
class Program {
 public:
  using Behaviour = std::function<http::ServerResponse(const Json& question)>;

  explicit Program(Behaviour behaviour)
      : server_(http::Server::Create({}, [behaviour = std::move(behaviour)](const auto& request) {
                  return behaviour(Json::parse(request.body()));
                }).value()) {}

  std::string url(const std::string& target = "/") const {
    return "http://" + server_->address() + target;
  }

 private:
  std::unique_ptr<http::Server> server_;
};

// The requests that a program has not answered yet.
using Waiting = runtime::BoundedQueue<http::Responder>;

http::Responder Next(Waiting& waiting) {
  const auto next = waiting.PopUntil(runtime::SystemClock().Now() + std::chrono::seconds(10));
  REQUIRE(next.has_value());
  return *next;
}

std::string HandlerText(const std::string& name, const std::string& path, const std::string& url,
                        const std::string& method = "POST", int timeout_ms = 5000) {
  return Json{
      {"name", name}, {"method", method}, {"path", path}, {"url", url}, {"timeout_ms", timeout_ms}}
      .dump();
}

std::string WatchPower(const std::string& state) {
  const Json is = {
      {"equals", {{"uri", kOpenBmcSystem}, {"pointer", "/PowerState"}, {"value", state}}}};
  const Json watch = {{"predicate", is}, {"milestones", {is}}, {"allowed", Json::array()}};
  return Json{{"watch", watch}}.dump();
}

std::string PowerState(Running& running) {
  return Json::parse(running.Service("GET", kOpenBmcSystem).body).at("PowerState");
}

std::string MessageOf(const http::ClientResponse& response) {
  return Json::parse(response.body).at("error").at("message");
}

TEST_CASE("Rules are put, told and replaced while the service runs, and stay through a reset") {
  Running running;
  REQUIRE(Json::parse(running.Control("GET", "instances/default/rules").body) ==
          Json{{"rules", Json::array()}});
  const Json tag = {
      {"name", "tag"},
      {"method", "PATCH"},
      {"path", "/redfish/v1/Systems/*"},
      {"body", {{"AssetTag", {{"$any", true}}}}},
      {"do", {{{"set", {{"pointer", "/AssetTag"}, {"value", "<${body:/AssetTag}>"}}}}}},
      {"respond", {{"status", 202}, {"headers", {{"X-Tagged", "${body:/AssetTag}"}}}}}};
  const Json rules = {{"rules", {tag}}};
  REQUIRE(running.Control("PUT", "instances/default/rules", rules.dump()).status == 200);
  REQUIRE(Json::parse(running.Control("GET", "instances/default/rules").body) == rules);
  const auto patch = [&] {
    return running.Service("PATCH", kOpenBmcSystem, R"({"AssetTag":"a\r\nX-Evil: 1"})");
  };
  REQUIRE(patch().status == 202);
  REQUIRE(patch().headers.Find("X-Tagged") == "aX-Evil: 1");
  REQUIRE(patch().headers.Find("X-Evil").empty());
  REQUIRE(Json::parse(running.Service("GET", kOpenBmcSystem).body).at("AssetTag") ==
          "<a\r\nX-Evil: 1>");
  REQUIRE(running.Control("POST", "instances/default/reset").status == 200);
  REQUIRE(patch().status == 202);
  REQUIRE(running.Control("PUT", "instances/default/rules", R"({"rules":[]})").status == 200);
  REQUIRE(patch().status == 200);

  const auto wrong =
      running.Control("PUT", "instances/default/rules", R"({"rules":[{"name":"x"}]})");
  REQUIRE(wrong.status == 400);
  REQUIRE(MessageOf(wrong) == "rule x: needs a \"method\"");
  REQUIRE(running.Control("POST", "instances/default/rules", "{}").headers.Find("Allow") ==
          "GET, PUT");
  REQUIRE(running.Control("GET", "instances/none/rules").status == 404);
}

TEST_CASE("The rules of the process are every instance's from its making on") {
  const auto rules = RuleSet::Parse({{"rules", Json::array({{{"name", "no"},
                                                             {"method", "PATCH"},
                                                             {"path", "/**"},
                                                             {"respond", {{"status", 451}}}}})}})
                         .value();
  Running running({.instance = {.rules = rules}});
  REQUIRE(running.Service("PATCH", kOpenBmcSystem, "{}").status == 451);
  REQUIRE(running.Control("POST", "instances", R"({"id":"one"})").status == 201);
  REQUIRE(running.Service("PATCH", "/i/one" + kOpenBmcSystem, "{}").status == 451);
  REQUIRE(running.Control("PUT", "instances/one/rules", R"({"rules":[]})").status == 200);
  REQUIRE(running.Service("PATCH", "/i/one" + kOpenBmcSystem, "{}").status == 400);
  REQUIRE(running.Service("PATCH", kOpenBmcSystem, "{}").status == 451);
}

TEST_CASE("A program outside teaches a service its power") {
  const Program program([](const Json& question) {
    const std::string type = question.at("body").at("ResetType");
    const bool on = question.at("resource").at("PowerState") == "On";
    if (type != "Toggle") return Answer({{"status", 400}, {"body", {{"unknown", type}}}});
    return Answer({{"status", 202},
                   {"headers", {{"X-Program", "1"}}},
                   {"body", {{"was", question.at("resource").at("PowerState")}}},
                   {"do",
                    {{{"set", {{"pointer", "/PowerState"}, {"value", on ? "Off" : "On"}}}},
                     {{"record", {{"kind", "reset"}, {"detail", {{"ResetType", type}}}}}}}}});
  });
  Running running;
  const auto added = running.Control(
      "POST", "instances/default/handlers",
      HandlerText("power", "/redfish/v1/Systems/*/Actions/*", program.url("/power")));
  REQUIRE(added.status == 201);
  const Json told =
      Json::parse(running.Control("GET", "instances/default/handlers").body).at("handlers");
  REQUIRE(told == Json::array({Json::parse(added.body)}));
  REQUIRE(told[0].at("url") == program.url("/power"));

  REQUIRE(PowerState(running) == "Off");
  REQUIRE(running.Control("POST", "instances/default/reset", WatchPower("On")).status == 200);
  http::Headers watch;
  watch.Add("Shoal-Watch", "1");
  const auto toggled = running.Service("POST", kReset, R"({"ResetType":"Toggle"})", watch);
  REQUIRE(toggled.status == 202);
  REQUIRE(Json::parse(toggled.body) == Json{{"was", "Off"}});
  REQUIRE(toggled.headers.Find("X-Program") == "1");
  REQUIRE(toggled.headers.Find("OData-Version") == "4.0");
  REQUIRE(toggled.headers.Find("Shoal-Watch-Result") ==
          "satisfied=1;milestones=1;open=0;collateral=1");
  REQUIRE(PowerState(running) == "On");
  REQUIRE(running.Service("POST", kReset, R"({"ResetType":"Explode"})").status == 400);
  REQUIRE(running.Service("POST", kReset, R"({"ResetType":"Toggle"})").status == 202);
  REQUIRE(PowerState(running) == "Off");
  const Json history =
      Json::parse(running.Control("GET", "instances/default/history").body).at("records");
  REQUIRE(history.size() == 2);
  REQUIRE(history[0].at("detail") == Json{{"ResetType", "Toggle"}});

  REQUIRE(running.Control("DELETE", "instances/default/handlers/power").status == 204);
  REQUIRE(running.Control("DELETE", "instances/default/handlers/power").status == 404);
  REQUIRE(running.Service("POST", kReset, R"({"ResetType":"Toggle"})").status == 400);
}

TEST_CASE("While a program thinks its service answers others, though there is one worker") {
  Waiting waiting(10);
  const Program program([&](const Json&) {
    http::ServerResponse response;
    response.later = [&](http::Responder responder) { waiting.Push(std::move(responder)); };
    return response;
  });
  Running running;
  REQUIRE(
      running
          .Control("POST", "instances/default/handlers", HandlerText("slow", kReset, program.url()))
          .status == 201);
  auto press = std::async(std::launch::async,
                          [&] { return running.Service("POST", kReset, R"({"ResetType":"On"})"); });
  const http::Responder responder = Next(waiting);
  REQUIRE(PowerState(running) == "Off");
  REQUIRE(running.Service("PATCH", kOpenBmcSystem, R"({"LocationIndicatorActive":true})").status ==
          200);
  responder.Send(Answer({{"do", {{{"set", {{"pointer", "/PowerState"}, {"value", "On"}}}}}}}));
  REQUIRE(press.get().status == 200);
  REQUIRE(PowerState(running) == "On");
  REQUIRE(Json::parse(running.Service("GET", kOpenBmcSystem).body).at("LocationIndicatorActive") ==
          true);

  auto stale = std::async(std::launch::async,
                          [&] { return running.Service("POST", kReset, R"({"ResetType":"On"})"); });
  const http::Responder late = Next(waiting);
  REQUIRE(running.Control("POST", "instances/default/reset").status == 200);
  late.Send(Answer({{"do", {{{"set", {{"pointer", "/PowerState"}, {"value", "Late"}}}}}}}));
  REQUIRE(stale.get().status == 503);
  REQUIRE(PowerState(running) == "Off");
}

TEST_CASE("A program that fails is named, and changes nothing") {
  Waiting waiting(10);
  const Program program([&](const Json& question) {
    const std::string name = question.at("name");
    if (name == "nonsense") {
      return http::ServerResponse{.body = std::make_shared<const std::string>("nonsense")};
    }
    if (name == "refuses") return Answer(Json::object(), 500);
    if (name == "huge") return Answer({{"body", std::string(kMaximumReply, 'x')}});
    http::ServerResponse silent;
    silent.later = [&](http::Responder responder) { waiting.Push(std::move(responder)); };
    return silent;
  });
  std::string closed;
  {
    const Program gone([](const Json&) { return http::ServerResponse(); });
    closed = gone.url();
  }
  Running running;
  const auto fail = [&](const std::string& name, const std::string& url, int timeout_ms) {
    REQUIRE(running
                .Control("POST", "instances/default/handlers",
                         HandlerText(name, kReset, url, "POST", timeout_ms))
                .status == 201);
    const auto answer = running.Service("POST", kReset, R"({"ResetType":"On"})");
    REQUIRE(MessageOf(answer).find("Handler " + name + ": ") == 0);
    REQUIRE(PowerState(running) == "Off");
    REQUIRE(running.Control("DELETE", "instances/default/handlers/" + name).status == 204);
    return answer.status;
  };
  REQUIRE(fail("nonsense", program.url(), 5000) == 502);
  REQUIRE(fail("refuses", program.url(), 5000) == 502);
  REQUIRE(fail("huge", program.url(), 5000) == 502);
  REQUIRE(fail("gone", closed, 5000) == 502);
  REQUIRE(fail("silent", program.url(), 30) == 504);
}

TEST_CASE("Handlers are refused by what is wrong with them") {
  Running running;
  const auto refusal = [&](const std::string& text) {
    const auto response = running.Control("POST", "instances/default/handlers", text);
    REQUIRE(response.status == 400);
    return MessageOf(response);
  };
  const std::string here = "http://127.0.0.1:9/";
  REQUIRE(refusal(HandlerText("a", "/a", "http://10.0.0.1/")).find("\"url\"") == 0);
  REQUIRE(refusal(HandlerText("a", "a", here)).find("\"path\"") == 0);
  REQUIRE(refusal(HandlerText("a/b", "/a", here)).find("\"name\"") == 0);
  REQUIRE(refusal(HandlerText("a", "/a", here, "OPTIONS")).find("\"method\"") == 0);
  REQUIRE(refusal(HandlerText("a", "/a", here, "GET", 0)).find("\"timeout_ms\"") == 0);
  REQUIRE(refusal(R"({"name":"a","metod":"GET"})").find("metod") != std::string::npos);
  REQUIRE(Json::parse(running.Control("GET", "instances/default/handlers").body)
              .at("handlers")
              .empty());
  REQUIRE(running.Control("PUT", "instances/default/handlers", "{}").status == 405);
  REQUIRE(running.Control("GET", "instances/default/handlers/a").status == 405);
}

TEST_CASE("Calls past the limit are refused at once") {
  Waiting waiting(10);
  const Program program([&](const Json&) {
    http::ServerResponse silent;
    silent.later = [&](http::Responder responder) { waiting.Push(std::move(responder)); };
    return silent;
  });
  ExternalHandler handler =
      ParseExternalHandler(Json::parse(HandlerText("a", "/a", program.url()))).value();
  handler.address = program.url().substr(7, program.url().rfind('/') - 7);
  handler.target = "/";
  const auto call = std::make_shared<const ExternalCall>(
      ExternalCall{.handler = handler, .question = R"({"name":"a"})", .requested = "/a"});
  std::promise<absl::Status> first;
  ExternalCaller caller({.max_calls = 1});
  caller.Ask(call, [&](const auto& reply) { first.set_value(reply.status()); });
  const http::Responder responder = Next(waiting);
  absl::Status second;
  caller.Ask(call, [&](const auto& reply) { second = reply.status(); });
  REQUIRE(second.code() == absl::StatusCode::kResourceExhausted);
  responder.Send(Answer(Json::object()));
  REQUIRE(first.get_future().get().ok());
  std::promise<absl::Status> third;
  caller.Ask(call, [&](const auto& reply) { third.set_value(reply.status()); });
  Next(waiting).Send(Answer(Json::object()));
  REQUIRE(third.get_future().get().ok());
}

}  // namespace
}  // namespace shoal::mockserver
