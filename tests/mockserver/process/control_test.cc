// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/control.h"

#include <catch2/catch.hpp>

#include "tests/mockserver/process/running.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

std::string Start(const std::string& state) {
  const Json on = {
      {"equals", {{"uri", kOpenBmcSystem}, {"pointer", "/PowerState"}, {"value", "On"}}}};
  const Json allowed =
      Json::array({{{"uri", kOpenBmcSystem}, {"pointer", "/PowerState"}},
                   {{"uri", "/redfish/v1/Chassis/chassis"}, {"pointer", "/PowerState"}}});
  return Json{
      {"start", {{{"uri", kOpenBmcSystem}, {"pointer", "/PowerState"}, {"value", state}}}},
      {"watch", {{"predicate", on}, {"milestones", Json::array({on})}, {"allowed", allowed}}}}
      .dump();
}

}  // namespace

TEST_CASE("Health and captures are told") {
  Running running;
  REQUIRE(Json::parse(running.Control("GET", "health").body) ==
          Json{{"status", "serving"}, {"instances", 0}});
  const Json captures = Json::parse(running.Control("GET", "captures").body).at("captures");
  REQUIRE(captures.size() == 2);
  REQUIRE(captures[0].at("name") == "openbmc-stock");
  REQUIRE(captures[0].at("digest").get<std::string>().size() == 64);
}

TEST_CASE("An instance may be made to ask who a client is, and a login over HTTP says so") {
  Running running;
  const auto made = running.Control(
      "POST", "instances", R"({"capture":"openbmc-stock","id":"a","authentication":"required"})");
  REQUIRE(made.status == 201);
  REQUIRE(running.Control("POST", "instances", R"({"authentication":"perhaps"})").status == 400);
  REQUIRE(running.Control("POST", "instances", R"({"preconditions":"perhaps"})").status == 400);
  const std::string sessions = "/redfish/v1/SessionService/Sessions";
  const auto refused = running.Service("GET", "/i/a" + sessions);
  REQUIRE(refused.status == 401);
  REQUIRE(refused.headers.Find("WWW-Authenticate").starts_with("Basic"));
  REQUIRE(running.Service("GET", sessions).status == 200);
  const auto login = running.Service("POST", "/i/a" + sessions,
                                     R"({"UserName":"root","Password":"shoal-password"})");
  REQUIRE(login.status == 201);
  http::Headers token;
  token.Add("X-Auth-Token", std::string(login.headers.Find("X-Auth-Token")));
  REQUIRE(running.Service("GET", "/i/a" + sessions, "", token).status == 200);
  http::Headers basic;
  basic.Add("Authorization", "Basic cm9vdDpzaG9hbC1wYXNzd29yZA==");
  REQUIRE(running.Service("GET", "/i/a" + sessions, "", basic).status == 200);
}

TEST_CASE("An instance lives from its making to its deletion") {
  Running running;
  const auto made = running.Control("POST", "instances", R"({"capture":"openbmc-stock"})");
  REQUIRE(made.status == 201);
  const std::string id = Json::parse(made.body).at("id");

  const auto reset = running.Control("POST", "instances/" + id + "/reset", Start("Off"));
  REQUIRE(reset.status == 200);
  REQUIRE(Json::parse(reset.body) ==
          Json{{"satisfied", false}, {"milestones", 0}, {"open", 1}, {"collateral", 0}});

  http::Headers watch;
  watch.Add("shoal-watch", "1");
  const std::string prefix = "/i/" + id;
  const auto get = running.Service("GET", prefix + kOpenBmcSystem, "", watch);
  REQUIRE(get.status == 200);
  REQUIRE(get.headers.Find("Shoal-Watch-Result") == "satisfied=0;milestones=0;open=1;collateral=0");
  REQUIRE(get.headers.Find("OData-Version") == "4.0");
  REQUIRE(Json::parse(get.body).at("PowerState") == "Off");

  const auto post =
      running.Service("POST", prefix + kOpenBmcSystem + "/Actions/ComputerSystem.Reset",
                      R"({"ResetType":"On"})", watch);
  REQUIRE(post.status == 200);
  REQUIRE(post.headers.Find("Shoal-Watch-Result") ==
          "satisfied=1;milestones=1;open=0;collateral=0");

  const auto patch = running.Service("PATCH", prefix + kOpenBmcSystem,
                                     R"({"LocationIndicatorActive":true})", watch);
  REQUIRE(patch.headers.Find("Shoal-Watch-Result") ==
          "satisfied=1;milestones=1;open=0;collateral=1");

  const auto history =
      Json::parse(running.Control("GET", "instances/" + id + "/history").body).at("records");
  REQUIRE(history.size() == 2);
  REQUIRE(history[1].at("kind") == "boot");

  const auto evaluated = running.Control("POST", "instances/" + id + "/evaluate");
  REQUIRE(Json::parse(evaluated.body).at("collateral") == 1);

  REQUIRE(running.Control("DELETE", "instances/" + id).status == 204);
  const auto gone = running.Service("GET", prefix + kOpenBmcSystem);
  REQUIRE(gone.status == 404);
  REQUIRE(gone.headers.Find("Shoal-Error") == "unknown-instance");
  const auto reset_gone = running.Control("POST", "instances/" + id + "/reset", "{}");
  REQUIRE(reset_gone.status == 404);
  REQUIRE(reset_gone.headers.Find("Shoal-Error") == "unknown-instance");
}

TEST_CASE("A response carries no watch result unless it was asked for") {
  Running running;
  REQUIRE(running.Service("GET", kOpenBmcSystem).headers.Find("Shoal-Watch-Result").empty());
  http::Headers watch;
  watch.Add("Shoal-Watch", "1");
  REQUIRE(
      running.Service("GET", kOpenBmcSystem, "", watch).headers.Find("Shoal-Watch-Result").empty());
}

TEST_CASE("A path prefix, the Host and nothing choose the instance") {
  Running running;
  REQUIRE(running.Control("POST", "instances", R"({"capture":"dmtf-rackmount1","id":"rack-1"})")
              .status == 201);
  const std::string rack = "/redfish/v1/Systems/437XR1138R2";
  REQUIRE(running.Service("GET", "/i/rack-1" + rack).status == 200);
  http::Headers host;
  host.Add("Host", "rack-1.example:8000");
  REQUIRE(running.Service("GET", rack, "", host).status == 200);
  REQUIRE(running.Service("GET", rack).status == 404);
  REQUIRE(running.Service("GET", kOpenBmcSystem).status == 200);
  REQUIRE(running.Service("GET", "/i/default" + kOpenBmcSystem).status == 200);
}

TEST_CASE("Power transients end when the clock is advanced") {
  Running running;
  REQUIRE(running
              .Control("POST", "instances",
                       R"({"capture":"openbmc-stock","id":"slow","power_transient_ms":2000})")
              .status == 201);
  REQUIRE(running.Control("POST", "instances/slow/reset", Start("Off")).status == 200);
  running.Service("POST", "/i/slow" + kOpenBmcSystem + "/Actions/ComputerSystem.Reset",
                  R"({"ResetType":"On"})");
  const auto state = [&] {
    return Json::parse(running.Service("GET", "/i/slow" + kOpenBmcSystem).body).at("PowerState");
  };
  REQUIRE(state() == "PoweringOn");
  const auto advanced =
      running.Control("POST", "instances/slow/advance", R"({"milliseconds":2000})");
  REQUIRE(Json::parse(advanced.body).at("satisfied") == true);
  REQUIRE(state() == "On");
}

TEST_CASE("Wrong control requests are refused by name") {
  Running running({.max_instances = 1});
  struct Case {
    std::string method, path, body;
    int status;
    std::string says;
  };
  REQUIRE(running.Control("POST", "instances", R"({"id":"one"})").status == 201);
  REQUIRE(running.Control("POST", "instances", R"({"id":"one"})").status == 201);
  const std::vector<Case> cases = {
      {"POST", "instances", R"({"capture":"nonesuch"})", 404, "nonesuch"},
      {"POST", "instances", R"({"capture":5})", 400, "capture"},
      {"POST", "instances", R"({"seed":-1})", 400, "seed"},
      {"POST", "instances", R"({"event_delivery":"pigeon"})", 400, "push"},
      {"POST", "instances", R"({"id":"a/b"})", 400, "id"},
      {"POST", "instances", R"({"Events":[]})", 400, "Events"},
      {"POST", "instances/one/reset", R"({"Events":[]})", 400, "Events"},
      {"POST", "instances/one/advance", R"({"Events":[]})", 400, "Events"},
      {"POST", "instances", R"({"id":"default"})", 400, "id"},
      {"POST", "instances", "{", 400, "JSON"},
      {"POST", "instances", R"({"id":"two"})", 429, "1 instances"},
      {"GET", "instances", "", 405, "POST"},
      {"POST", "health", "", 405, "GET"},
      {"GET", "nonsense", "", 404, "nonsense"},
      {"POST", "instances/one/explode", "", 404, "explode"},
      {"GET", "instances/one/reset", "", 405, "POST"},
      {"POST", "instances/one/reset", R"({"start":5})", 400, "start"},
      {"POST", "instances/one/reset", R"({"start":[{"uri":"/x","pointer":"/y"}]})", 400, "value"},
      {"POST", "instances/one/reset", R"({"start":[{"uri":"/x","pointer":"/y","value":1}]})", 404,
       "/x"},
      {"POST", "instances/one/reset", R"({"watch":{"predicate":{"nope":1}}})", 400, "nope"},
      {"POST", "instances/one/advance", R"({"milliseconds":-1})", 400, "milliseconds"},
      {"POST", "instances/one/advance", R"({"milliseconds":"1"})", 400, "milliseconds"},
      {"DELETE", "instances/two", "", 404, "two"},
  };
  for (const Case& wrong : cases) {
    INFO(wrong.method << " " << wrong.path << " " << wrong.body);
    const auto response = running.Control(wrong.method, wrong.path, wrong.body);
    REQUIRE(response.status == wrong.status);
    REQUIRE(
        Json::parse(response.body).at("error").at("message").get<std::string>().find(wrong.says) !=
        std::string::npos);
  }
}

}  // namespace shoal::mockserver
