// SPDX-License-Identifier: Apache-2.0
#include "mockserver/rules/external_handlers.h"

#include <catch2/catch.hpp>

#include "mockserver/instance/instance.h"
#include "mockserver/process/control_teaching.h"
#include "mockserver/rules/rules.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

const std::string kHandledReset = kOpenBmcSystem + "/Actions/ComputerSystem.Reset";

Json Handler(const std::string& name, const std::string& method, const std::string& path) {
  return {{"name", name}, {"method", method}, {"path", path}, {"url", "http://127.0.0.1:9/x"}};
}

std::shared_ptr<const ExternalHandlers> Handlers(const std::vector<Json>& list) {
  auto handlers = std::make_shared<const ExternalHandlers>();
  for (const Json& one : list) {
    handlers = handlers->With(ParseExternalHandler(one).value()).value();
  }
  return handlers;
}

// Returns a static service with a handler for the system's resets and one for its changes.
Instance Asking(std::uint64_t seed = 0) {
  Instance instance(WorldOf("openbmc-stock"), {.seed = seed, .mode = Mode::kStatic});
  instance.SetExternalHandlers(Handlers({Handler("reset", "POST", "/redfish/v1/Systems/*/**"),
                                         Handler("patch", "PATCH", "/redfish/v1/Systems/*"),
                                         Handler("read", "GET", "/redfish/v1/Systems/*/Oem")}));
  return instance;
}

Response PressReset(Instance& instance) {
  return instance.Handle({.method = Method::kPost,
                          .uri = kHandledReset,
                          .body = R"({"ResetType":"ForceOff"})",
                          .accept = "application/json",
                          .authorization = "Basic c2VjcmV0",
                          .auth_token = "c2VjcmV0"});
}

std::string MessageOf(const Response& response) {
  REQUIRE(response.json != nullptr);
  return response.json->at("error").at("message").get<std::string>();
}

TEST_CASE("A handler outside is told the request and the resource, but no credentials") {
  Instance instance = Asking(3);
  instance.Advance(std::chrono::milliseconds(1500));
  const Response response = PressReset(instance);
  REQUIRE(response.status == 501);
  REQUIRE(response.external != nullptr);
  const Json question = Json::parse(response.external->question);
  REQUIRE(question.at("name") == "reset");
  REQUIRE(question.at("method") == "POST");
  REQUIRE(question.at("uri") == kHandledReset);
  REQUIRE(question.at("path_pieces") == Json({"system", "Actions/ComputerSystem.Reset"}));
  REQUIRE(question.at("body") == Json{{"ResetType", "ForceOff"}});
  REQUIRE(question.at("headers") == Json{{"Accept", "application/json"}});
  REQUIRE(question.at("resource") == *instance.Find(kOpenBmcSystem));
  REQUIRE(question.at("now_ms") == 1500);
  REQUIRE(response.external->question.find("c2VjcmV0") == std::string::npos);

  const auto draw = [](Instance asked) {
    return Json::parse(PressReset(asked).external->question).at("draw").get<double>();
  };
  REQUIRE(draw(Asking(3)) == question.at("draw").get<double>());
  REQUIRE(draw(Asking(4)) != question.at("draw").get<double>());
}

TEST_CASE("Nothing happens before a handler's reply, and all that it says then") {
  Instance instance = Asking();
  const Response asked = PressReset(instance);
  REQUIRE(instance.changed_resources() == 0);
  const auto reply = ParseExternalReply(
      R"({"status": 202, "body": {"done": "${body:/x}"}, "headers": {"Retry-After": "3"},
          "do": [{"set": {"pointer": "/PowerState", "value": "On"}},
                 {"record": {"kind": "reset"}}]})");
  const Response done = instance.Complete(*asked.external, reply);
  REQUIRE(done.status == 202);
  REQUIRE(done.external == nullptr);
  REQUIRE(*done.json == Json{{"done", "${body:/x}"}});
  REQUIRE(done.headers == decltype(done.headers){{"Retry-After", "3"}});
  REQUIRE(At(instance, kOpenBmcSystem, "/PowerState") == "On");
  REQUIRE(instance.history().size() == 1);
  REQUIRE(instance.Reset().ok());
  REQUIRE(PressReset(instance).external != nullptr);
}

TEST_CASE("A handler that fails, errs, or is overtaken by a reset changes nothing") {
  const auto complete = [](const absl::StatusOr<ExternalReply>& reply, bool reset = false) {
    Instance instance = Asking();
    const Response asked = PressReset(instance);
    if (reset) REQUIRE(instance.Reset().ok());
    Response answer = instance.Complete(*asked.external, reply);
    REQUIRE(instance.changed_resources() == 0);
    REQUIRE(instance.history().empty());
    REQUIRE(MessageOf(answer).find("Handler reset: ") == 0);
    REQUIRE(Messages(answer) == std::vector<std::string>{"GeneralError"});
    return answer.status;
  };
  const auto good =
      ParseExternalReply(R"({"do": [{"set": {"pointer": "/PowerState", "value": "On"}}]})");
  REQUIRE(complete(good, true) == 503);
  REQUIRE(complete(absl::DeadlineExceededError("slow")) == 504);
  REQUIRE(complete(absl::UnavailableError("gone")) == 502);
  REQUIRE(complete(absl::ResourceExhaustedError("full")) == 503);
  REQUIRE(complete(ParseExternalReply("nonsense")) == 502);
  REQUIRE(complete(ParseExternalReply(
              R"({"do": [{"set": {"pointer": "/PowerState", "value": "On"}},
                         {"delete": {"uri": "/redfish/v1/None"}}]})")) == 502);

  Instance instance = Asking();
  const Response read = Get(instance, kOpenBmcSystem + "/Oem");
  REQUIRE(instance.Complete(*read.external, ParseExternalReply(R"({"status": 203})")).status ==
          203);
  REQUIRE(instance
              .Complete(*read.external,
                        ParseExternalReply(
                            R"({"do": [{"record": {"uri": "/redfish/v1", "kind": "x"}}]})"))
              .status == 502);
  REQUIRE(instance.history().empty());
}

TEST_CASE("A reply that says anything else is refused by what is wrong") {
  const auto says = [](const std::string& text) {
    const auto reply = ParseExternalReply(text);
    REQUIRE(reply.status().code() == absl::StatusCode::kInvalidArgument);
    return std::string(reply.status().message());
  };
  REQUIRE(says("[]").find("not a JSON object") != std::string::npos);
  REQUIRE(says(R"({"stauts": 200})").find("stauts") != std::string::npos);
  REQUIRE(says(R"({"status": "200"})").find("status") != std::string::npos);
  REQUIRE(says(R"({"do": {}})").find("\"do\"") != std::string::npos);
  REQUIRE(says(R"({"do": [{"set": {"pointer": "/A"}}]})").find("\"do\": [0]: \"set\"") !=
          std::string::npos);
  REQUIRE(says(std::string(1000, '[')).find("not a JSON object") != std::string::npos);
}

TEST_CASE("Of rules and handlers the closest acts, and If-Match guards both") {
  Instance instance = Asking();
  const auto rules = [](const std::string& path) {
    return RuleSet::Parse({{"rules", Json::array({{{"name", "rule"},
                                                   {"method", "PATCH"},
                                                   {"path", path},
                                                   {"respond", {{"status", 418}}}}})}})
        .value();
  };
  instance.SetRules(rules("/redfish/**"));
  REQUIRE(Patch(instance, kOpenBmcSystem, Json::object()).external != nullptr);
  REQUIRE(Patch(instance, "/redfish/v1/Chassis", Json::object()).status == 418);
  instance.SetRules(rules(kOpenBmcSystem));
  REQUIRE(Patch(instance, kOpenBmcSystem, Json::object()).status == 418);
  REQUIRE(Patch(instance, "/redfish/v1/Systems/other", Json::object()).external != nullptr);
  instance.SetRules(nullptr);
  REQUIRE(Patch(instance, kOpenBmcSystem, Json::object(), "\"other\"").status == 412);
}

TEST_CASE("A handler of the same name is replaced, and their number is limited") {
  auto handlers = Handlers({Handler("a", "POST", "/a"), Handler("b", "POST", "/b/longer"),
                            Handler("a", "POST", "/a/longest/path")});
  REQUIRE(handlers->handlers().size() == 2);
  REQUIRE(handlers->handlers()[0].route.path().pattern() == "/a/longest/path");
  REQUIRE(handlers->Without("c") == nullptr);
  REQUIRE(handlers->Without("a")->handlers().size() == 1);
  for (std::size_t i = 2; i < ExternalHandlers::kMaximumHandlers; ++i) {
    handlers = handlers->With(ParseExternalHandler(Handler(std::to_string(i), "GET", "/")).value())
                   .value();
  }
  const auto more = ParseExternalHandler(Handler("more", "GET", "/")).value();
  REQUIRE(handlers->With(more).status().code() == absl::StatusCode::kResourceExhausted);
  REQUIRE(handlers->With(ParseExternalHandler(Handler("a", "GET", "/")).value()).ok());
}

TEST_CASE("A handler is on this machine, or on a host that was allowed") {
  const std::vector<std::string> hosts = {"robot.example"};
  const auto address = [&](const std::string& url) {
    const auto parsed = ParseExternalUrl(url, hosts);
    return parsed.ok() ? parsed->address + " " + parsed->target : "refused";
  };
  REQUIRE(address("http://127.0.0.1:9000/a?b=c") == "127.0.0.1:9000 /a?b=c");
  REQUIRE(address("http://127.8.9.1") == "127.8.9.1:80 /");
  REQUIRE(address("http://localhost:81/") == "localhost:81 /");
  REQUIRE(address("http://[::1]:82/x") == "[::1]:82 /x");
  REQUIRE(address("http://[::1]/x") == "[::1]:80 /x");
  REQUIRE(address("http://robot.example/x") == "robot.example:80 /x");
  for (const std::string& wrong :
       {std::string("https://127.0.0.1/"), std::string("http://10.0.0.1/"),
        std::string("http://127.0.0.1.evil.example/"), std::string("http://evil.example/"),
        std::string("http://127.0.0.1@evil.example/"), std::string("http://127.0.0.1:99999/"),
        std::string("http://127.0.0.1/a b"), std::string("http://127.0.0.1/\r\nX: y"),
        std::string("http://0.0.0.0/"), std::string("http://2130706433/"), std::string("http:///"),
        std::string("http://"), std::string("127.0.0.1:80"), std::string("")}) {
    INFO(wrong);
    REQUIRE(address(wrong) == "refused");
  }
}

}  // namespace
}  // namespace shoal::mockserver
