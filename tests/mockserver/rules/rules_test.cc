// SPDX-License-Identifier: Apache-2.0
#include "mockserver/rules/rules.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "mockserver/instance/instance.h"
#include "tests/mockserver/rules/taught.h"

namespace shoal::mockserver {
namespace {

using std::chrono::milliseconds;

TEST_CASE("Rules alone teach a static service to light an indicator and to change its power") {
  const Json rules = {
      {{"name", "locate"},
       {"method", "PATCH"},
       {"path", "/redfish/v1/Systems/*"},
       {"body", {{"LocationIndicatorActive", {{"$in", {true, false}}}}}},
       {"do", {Set("/LocationIndicatorActive", "${body:/LocationIndicatorActive}")}}},
      {{"name", "power-on"},
       {"method", "POST"},
       {"path", "/redfish/v1/Systems/*/Actions/ComputerSystem.Reset"},
       {"body", {{"ResetType", "On"}}},
       {"when", {{"equals", {{"pointer", "/PowerState"}, {"value", "Off"}}}}},
       {"do",
        {Set("/PowerState", "On"),
         {{"record", {{"kind", "boot"}, {"detail", {{"target", "None"}}}}}}}},
       {"respond", {{"status", 204}}}},
      {{"name", "power-off"},
       {"method", "POST"},
       {"path", "/redfish/v1/Systems/*/Actions/ComputerSystem.Reset"},
       {"body", {{"ResetType", "ForceOff"}}},
       {"do", {Set("/PowerState", "Off")}}},
      {{"name", "other-reset"},
       {"method", "POST"},
       {"path", "/redfish/v1/Systems/*/Actions/ComputerSystem.Reset"},
       {"respond",
        {{"status", 409},
         {"body", {{"error", {{"message", "no ${body:/ResetType} of ${path:1}"}}}}},
         {"headers", {{"Retry-After", "5"}}}}}}};
  for (const std::string& capture :
       {std::string("openbmc-stock"), std::string("dmtf-rackmount1"), std::string("dell-r750")}) {
    Taught taught(rules, Mode::kStatic, capture);
    const std::string& system = taught.system;
    const Json on = {{"equals", {{"uri", system}, {"pointer", "/PowerState"}, {"value", "On"}}}};
    const Json lit = {
        {"equals", {{"uri", system}, {"pointer", "/LocationIndicatorActive"}, {"value", true}}}};
    const Json booted = {{"happened", {{"kind", "boot"}, {"uri", system}}}};
    REQUIRE(taught.instance
                .Reset({}, WatchFor({{"all", {on, lit, booted}}}, Json::array(),
                                    {{{"uri", system}, {"pointer", "/LocationIndicatorActive"}},
                                     {{"uri", system}, {"pointer", "/PowerState"}}}))
                .ok());
    const std::string reset = system + "/Actions/ComputerSystem.Reset";

    REQUIRE(taught.Ask(Method::kPatch, system, R"({"AssetTag":"x"})").status == 404);
    REQUIRE(taught.Ask(Method::kPatch, system, R"({"LocationIndicatorActive":"yes"})").status ==
            404);
    REQUIRE(taught.Ask(Method::kPatch, system, R"({"LocationIndicatorActive":true})").status ==
            200);
    REQUIRE(taught.Ask(Method::kPost, reset, R"({"ResetType":"ForceOff"})").status == 200);
    REQUIRE(At(taught.instance, system, "/PowerState") == "Off");
    REQUIRE_FALSE(taught.instance.Evaluate().satisfied);
    REQUIRE(taught.Ask(Method::kPost, reset, R"({"ResetType":"On"})").status == 204);
    REQUIRE(taught.instance.Evaluate().satisfied);
    REQUIRE(taught.instance.Evaluate().collateral == 0);

    const Response again = taught.Ask(Method::kPost, reset, R"({"ResetType":"On"})");
    REQUIRE(again.status == 409);
    REQUIRE(again.json->at("error").at("message") ==
            "no On of " + system.substr(system.rfind('/') + 1));
    REQUIRE(again.headers == decltype(again.headers){{"Retry-After", "5"}});

    REQUIRE(taught.instance.Reset().ok());
    REQUIRE(taught.instance.changed_resources() == 0);
    REQUIRE(taught.Ask(Method::kPost, reset, R"({"ResetType":"ForceOff"})").status == 200);
    REQUIRE(At(taught.instance, system, "/PowerState") == "Off");
  }
}

TEST_CASE("The closest of the rules that match acts, in whatever order they were written") {
  const auto answer = [](const std::string& name, const Json& more) {
    Json rule = Rule(name, more);
    rule["respond"] = {{"status", 200}, {"body", name}};
    return rule;
  };
  const Json here = {{"exists", {{"pointer", "/PowerState"}}}};
  std::vector<Json> rules = {
      answer("anything", {{"path", "/redfish/**"}, {"body", {{"A", 1}, {"B", 2}}}, {"when", here}}),
      answer("plain", {}),
      answer("with-state", {{"when", here}}),
      answer("with-state-z", {{"when", here}}),
      answer("with-a", {{"body", {{"A", 1}}}}),
      answer("with-a-and-any-b", {{"body", {{"A", 1}, {"B", {{"$any", true}}}}}}),
      answer("deep", {{"body", {{"/Boot/Target", "Pxe"}, {"C", 1}, {"D", 1}}}})};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    std::rotate(rules.begin(), rules.begin() + 1, rules.end());
    Taught taught(rules);
    const auto who = [&](const std::string& uri, const std::string& body) {
      const Response response = taught.Ask(Method::kPatch, uri, body);
      return response.status == 200 ? response.json->get<std::string>() : "nobody";
    };
    REQUIRE(who(taught.system, "{}") == "with-state");
    REQUIRE(who("/redfish/v1/Systems/none", "{}") == "plain");
    REQUIRE(who("/redfish/v1/Systems/none", R"({"A":1})") == "with-a");
    REQUIRE(who(taught.system, R"({"A":1,"B":null,"E":5})") == "with-a-and-any-b");
    REQUIRE(who(taught.system, R"({"A":1,"B":2})") == "with-a-and-any-b");
    REQUIRE(who(taught.system, R"({"Boot":{"Target":"Pxe"},"C":1,"D":1,"A":1,"B":2})") == "deep");
    REQUIRE(who(taught.chassis, R"({"A":1,"B":2})") == "anything");
    REQUIRE(who(taught.chassis, R"({"A":1})") == "nobody");
    REQUIRE(who(taught.system, "{") == "nobody");
  }
}

TEST_CASE("Rules come before what is built in, which does the rest") {
  Taught taught(One(Rule("frozen", {{"body", {{"AssetTag", {{"$any", true}}}}},
                                    {"respond", {{"status", 503}}}})),
                Mode::kStateful);
  REQUIRE(taught.Ask(Method::kPatch, taught.system, R"({"AssetTag":"x"})").status == 503);
  REQUIRE(taught.instance.changed_resources() == 0);
  REQUIRE(taught.Ask(Method::kPatch, taught.system, R"({"LocationIndicatorActive":true})").status ==
          200);
  REQUIRE(At(taught.instance, taught.system, "/LocationIndicatorActive") == true);
  REQUIRE(taught.Ask(Method::kPatch, taught.system, R"({"AssetTag":)").status == 400);
}

TEST_CASE("A rule reads a body that comes as a value as it reads its text") {
  const Json rules = One(Rule("tag", {{"body", {{"AssetTag", "a"}}},
                                      {"do", {Set("/AssetTag", "taught ${body:/AssetTag}")}}}));
  for (const char* tag : {"a", "b"}) {
    const Json body = {{"AssetTag", tag}};
    const std::string text = body.dump();
    Taught by_text(rules, Mode::kStateful);
    Taught by_value(rules, Mode::kStateful);
    by_text.Ask(Method::kPatch, by_text.system, text);
    by_value.instance.Handle({.method = Method::kPatch, .uri = by_value.system, .json = &body});
    const Json expected = *by_text.Ask(Method::kGet, by_text.system).json;
    REQUIRE(*by_value.Ask(Method::kGet, by_value.system).json == expected);
    REQUIRE((expected.value("AssetTag", "") == "taught a") == (*tag == 'a'));
  }
}

TEST_CASE("Members are created, listed and deleted by rules") {
  const std::string sessions = "/redfish/v1/SessionService/Sessions";
  Taught taught({{{"name", "make"},
                  {"method", "POST"},
                  {"path", sessions},
                  {"do",
                   {{{"create",
                      {{"json",
                        {{"@odata.type", "#Session.v1_3_0.Session"},
                         {"UserName", "${body:/UserName}"}}}}}}}}},
                 {{"name", "make-named"},
                  {"method", "POST"},
                  {"path", sessions},
                  {"body", {{"Name", {{"$any", true}}}}},
                  {"do", {{{"create", {{"name", "s-${body:/Name}"}, {"json", Json::object()}}}}}}},
                 {{"name", "drop"},
                  {"method", "DELETE"},
                  {"path", sessions + "/*"},
                  {"do", {{{"delete", Json::object()}}}},
                  {"respond", {{"status", 204}}}}});
  const Json before = *taught.instance.Find(sessions);
  const Response made = taught.Ask(Method::kPost, sessions, R"({"UserName":"ann"})");
  REQUIRE(made.status == 201);
  REQUIRE(made.json->at("UserName") == "ann");
  REQUIRE(made.json->at("@odata.id") == made.location);
  REQUIRE(Get(taught.instance, made.location).status == 200);
  REQUIRE(taught.instance.Find(sessions)->at("Members").size() == before.at("Members").size() + 1);

  REQUIRE(taught.Ask(Method::kPost, sessions, R"({"Password":"p"})").status == 404);
  const Response named = taught.Ask(Method::kPost, sessions, R"({"Name":7})");
  REQUIRE(named.location == sessions + "/s-7");
  REQUIRE(named.json->at("Id") == "s-7");
  REQUIRE(taught.Ask(Method::kPost, sessions, R"({"Name":7})").status == 409);
  REQUIRE(taught.Ask(Method::kPost, sessions, R"({"Name":"a/b"})").status == 409);

  REQUIRE(taught.Ask(Method::kDelete, made.location).status == 204);
  REQUIRE(taught.Ask(Method::kDelete, named.location).status == 204);
  REQUIRE(Get(taught.instance, made.location).status == 404);
  REQUIRE(*taught.instance.Find(sessions) == before);
  REQUIRE(taught.Ask(Method::kDelete, made.location).status == 404);
}

TEST_CASE("Operations that cannot all be done are not done at all") {
  const Json first = Set("/AssetTag", "changed");
  const auto status = [&](const Json& second, const std::string& says) {
    Taught taught(One(Rule("both", {{"do", {first, second}}})));
    const Response response = taught.Ask(Method::kPatch, taught.system, "{}");
    REQUIRE(taught.instance.changed_resources() == 0);
    REQUIRE(response.body->find(says) != std::string::npos);
    return response.status;
  };
  REQUIRE(status({{"set", {{"uri", "/redfish/v1/None"}, {"pointer", "/A"}, {"value", 1}}}},
                 "/redfish/v1/None") == 404);
  REQUIRE(status(Set("/PowerState/A/B", 1), "/PowerState/A/B leads nowhere") == 409);
  REQUIRE(status({{"delete", {{"uri", "/redfish/v1/None"}}}}, "/redfish/v1/None") == 404);
  REQUIRE(
      status(
          {{"create",
            {{"collection", "/redfish/v1/Systems"}, {"name", "system"}, {"json", Json::object()}}}},
          "Rule both") == 409);
}

TEST_CASE("Properties and elements are deleted, and absent ones may be") {
  Taught taught(
      Json::array({Rule("strip", {{"do",
                                   {{{"delete", {{"pointer", "/PowerState"}}}},
                                    {{"delete", {{"pointer", "/Boot/BootSourceOverrideTarget"}}}},
                                    {{"delete", {{"pointer", "/None/At/All"}}}},
                                    Set("/New/List", {1, 2, 3})}}}),
                   Rule("pop", {{"body", {{"Pop", true}}},
                                {"do", {{{"delete", {{"pointer", "/New/List/1"}}}}}}})}));
  REQUIRE(taught.Ask(Method::kPatch, taught.system, "{}").status == 200);
  REQUIRE(taught.Ask(Method::kPatch, taught.system, R"({"Pop":true})").status == 200);
  const Json& system = *taught.instance.Find(taught.system);
  REQUIRE_FALSE(system.contains("PowerState"));
  REQUIRE(system.contains("Boot"));
  REQUIRE_FALSE(system.at("Boot").contains("BootSourceOverrideTarget"));
  REQUIRE(system.at("New").at("List") == Json({1, 3}));
}

TEST_CASE("What a rule does later is done on the virtual clock, once") {
  Taught taught(One(Rule("slow", {{"do", {Set("/AssetTag", "${body:/AssetTag}")}},
                                  {"after_ms", 500},
                                  {"respond", {{"status", 202}}}})));
  const Json before = At(taught.instance, taught.system, "/AssetTag");
  REQUIRE(taught.Ask(Method::kPatch, taught.system, R"({"AssetTag":"a"})").status == 202);
  taught.instance.Advance(milliseconds(400));
  REQUIRE(taught.Ask(Method::kPatch, taught.system, R"({"AssetTag":"b"})").status == 202);
  taught.instance.Advance(milliseconds(499));
  REQUIRE(At(taught.instance, taught.system, "/AssetTag") == before);
  taught.instance.Advance(milliseconds(1));
  REQUIRE(At(taught.instance, taught.system, "/AssetTag") == "b");

  REQUIRE(taught.Ask(Method::kPatch, "/redfish/v1/Systems/none", R"({"AssetTag":"c"})").status ==
          202);
  taught.instance.Advance(milliseconds(500));
  REQUIRE(taught.Ask(Method::kPatch, taught.system, R"({"AssetTag":"d"})").status == 202);
  REQUIRE(taught.instance.Reset().ok());
  taught.instance.Advance(milliseconds(1000));
  REQUIRE(taught.instance.changed_resources() == 0);
}

TEST_CASE("A probability is drawn from the seed: the same seed, the same history") {
  const Json rules = One(Rule("flaky", {{"respond", {{"status", 503}}}, {"probability", 0.25}}));
  const auto history = [&](std::uint64_t seed) {
    Taught taught(rules, Mode::kStatic, "openbmc-stock", seed);
    std::string refused;
    for (int i = 0; i < 400; ++i) {
      refused += taught.Ask(Method::kPatch, taught.system, "{}").status == 503 ? '1' : '0';
    }
    REQUIRE(taught.instance.Reset().ok());
    REQUIRE((taught.Ask(Method::kPatch, taught.system, "{}").status == 503) == (refused[0] == '1'));
    return refused;
  };
  REQUIRE(history(1) == history(1));
  REQUIRE(history(1) != history(2));
  const std::string first = history(1);
  const auto refusals = std::count(first.begin(), first.end(), '1');
  REQUIRE(refusals > 70);
  REQUIRE(refusals < 130);
}

TEST_CASE("A rule for GET answers for what is there and what is not, and changes nothing") {
  Taught taught({{{"name", "missing"},
                  {"method", "GET"},
                  {"path", "/redfish/v1/Systems/*/Oem"},
                  {"respond", {{"status", 200}, {"body", {{"System", "${path:1}"}}}}}},
                 {{"name", "broken"},
                  {"method", "GET"},
                  {"path", "/redfish/v1/Chassis"},
                  {"respond", {{"status", 500}, {"headers", {{"ETag", "\"x\""}}}}}}});
  REQUIRE(*taught.Ask(Method::kGet, taught.system + "/Oem").json ==
          Json{{"System", taught.system.substr(taught.system.rfind('/') + 1)}});
  REQUIRE(taught.Ask(Method::kHead, taught.system + "/Oem").status == 200);
  const Response broken = taught.Ask(Method::kGet, "/redfish/v1/Chassis/?$top=1");
  REQUIRE(broken.status == 500);
  REQUIRE(broken.etag == "\"x\"");
  REQUIRE(taught.Ask(Method::kGet, taught.system).status == 200);
  REQUIRE(taught.instance.changed_resources() == 0);
}

TEST_CASE("If-Match guards what a rule would do") {
  Taught taught(One(Rule("tag", {{"do", {Set("/AssetTag", "x")}}})));
  const std::string etag = Get(taught.instance, taught.system).etag;
  REQUIRE(taught.Ask(Method::kPatch, taught.system, "{}", "\"other\"").status == 412);
  REQUIRE(taught.instance.changed_resources() == 0);
  REQUIRE(taught.Ask(Method::kPatch, taught.system, "{}", etag).status == 200);
}

TEST_CASE("Parts of a request are values, and are never looked at again") {
  Taught taught(One(Rule("echo", {{"path", "/redfish/v1/Systems/*"},
                                  {"do",
                                   {Set("/A", "${body:/V}"), Set("/B", "<${body:/V}|${path:1}>"),
                                    Set("/C", {{"All", "${body:}"}})}}})));
  const auto set = [&](const Json& value) {
    REQUIRE(taught.Ask(Method::kPatch, taught.system, Json{{"V", value}}.dump()).status == 200);
  };
  const std::string id = taught.system.substr(taught.system.rfind('/') + 1);
  set({1, {{"x", nullptr}}});
  REQUIRE(At(taught.instance, taught.system, "/A") == Json({1, {{"x", nullptr}}}));
  REQUIRE(At(taught.instance, taught.system, "/B") == R"(<[1,{"x":null}]|)" + id + ">");
  set("${path:1}");
  REQUIRE(At(taught.instance, taught.system, "/A") == "${path:1}");
  REQUIRE(At(taught.instance, taught.system, "/B") == "<${path:1}|" + id + ">");
  REQUIRE(At(taught.instance, taught.system, "/C") == Json{{"All", {{"V", "${path:1}"}}}});
}

}  // namespace
}  // namespace shoal::mockserver
