// SPDX-License-Identifier: Apache-2.0
#include "operate/comparison.h"

#include <catch2/catch.hpp>

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

const std::string kSystem = "/redfish/v1/Systems/1";

Step Reset() {
  return {.method = "POST",
          .uri = kSystem + "/Actions/ComputerSystem.Reset",
          .status = 204,
          .effects = {{.uri = kSystem,
                       .pointer = "/PowerState",
                       .before = "Off",
                       .after = "On",
                       .matters = true},
                      {.uri = kSystem,
                       .pointer = "/LastResetTime",
                       .before = "2033-05-18",
                       .after = "2033-05-19",
                       .matters = false}}};
}

Sight Seen(const Step& step, const Json& body, const MadeUris& made = {}) {
  return SightOf(step.effects, made, {{kSystem, body}});
}

}  // namespace

TEST_CASE("values are the same in spite of number types, annotations and further members") {
  REQUIRE(IsSame(1, 1.0));
  REQUIRE(IsSame(nullptr, nullptr));
  REQUIRE_FALSE(IsSame("On", "Off"));
  REQUIRE(IsSame({{"a", 1}, {"b", 2}}, {{"a", 1}, {"x@Message", "no"}}));
  REQUIRE_FALSE(IsSame({{"a", 1}}, {{"a", 1}, {"b", 2}}));
  REQUIRE(IsSame({{"a", 1}}, {{"a", 1}, {"b", nullptr}}));
  REQUIRE_FALSE(IsSame(Json::array({1, 2}), Json::array({2, 1})));
  REQUIRE_FALSE(IsSame({{"@odata.id", "/a"}}, {{"@odata.id", "/b"}}));
}

TEST_CASE("URIs of resources that were made are those of the host, and below them as well") {
  const MadeUris made = {{"/v/A/1", "/v/A/77"}, {"/v/A/1/B/2", "/v/A/77/B/9"}};
  REQUIRE(OnHost(made, std::string("/v/A/1")) == "/v/A/77");
  REQUIRE(OnHost(made, std::string("/v/A/1/C")) == "/v/A/77/C");
  REQUIRE(OnHost(made, std::string("/v/A/1/B/2/D")) == "/v/A/77/B/9/D");
  REQUIRE(OnHost(made, std::string("/v/A/11")) == "/v/A/11");
  REQUIRE(OnHost(made, Json{{"l", Json::array({{{"@odata.id", "/v/A/1"}}})}}) ==
          Json{{"l", Json::array({{{"@odata.id", "/v/A/77"}}})}});
}

TEST_CASE("a sight tells whether a host is as before a step, as after it, or neither") {
  const Step step = Reset();
  const Sight before = Seen(step, {{"PowerState", "Off"}, {"LastResetTime", "2026"}});
  REQUIRE(before.is_before);
  REQUIRE_FALSE(before.is_after);
  REQUIRE(before.missing.size() == 1);
  const Sight after = Seen(step, {{"PowerState", "On"}});
  REQUIRE(after.is_after);
  REQUIRE_FALSE(after.is_before);
  const Sight neither = Seen(step, {{"PowerState", "Paused"}});
  REQUIRE_FALSE(neither.is_before);
  REQUIRE_FALSE(neither.is_after);
}

TEST_CASE("a resource that is made or removed is seen by its presence alone") {
  const std::string made = "/redfish/v1/Accounts/9";
  const Step step = {.method = "POST",
                     .effects = {{.uri = made,
                                  .pointer = "",
                                  .before = nullptr,
                                  .after = {{"@odata.id", made}},
                                  .matters = true}}};
  REQUIRE(SightOf(step.effects, {}, {}).is_before);
  REQUIRE(SightOf(step.effects, {{made, "/redfish/v1/Accounts/3"}},
                  {{"/redfish/v1/Accounts/3", {{"Id", "3"}}}})
              .is_after);
}

TEST_CASE("a new member is known by the values that were sent, as far as it shows them") {
  const Json request = {{"UserName", "bob"}, {"Password", "Tr0ub4dor&3"}, {"RoleId", "Operator"}};
  REQUIRE(ShowsRequest(request, {{"UserName", "bob"}, {"RoleId", "Operator"}, {"Id", "3"}}));
  REQUIRE(ShowsRequest(request, {{"UserName", "bob"}, {"Password", nullptr}}));
  REQUIRE(ShowsRequest(request, {{"UserName", "bob"}, {"Password", "***"}}));
  REQUIRE_FALSE(ShowsRequest(request, {{"UserName", "eve"}, {"RoleId", "Operator"}}));
  // What shows nothing of the request can be anybody's.
  REQUIRE_FALSE(ShowsRequest(request, {{"Id", "3"}, {"RoleId", nullptr}}));
  REQUIRE_FALSE(ShowsRequest(nullptr, {{"Id", "3"}}));
  REQUIRE_FALSE(ShowsRequest(request, "bob"));
}

TEST_CASE("sessions of a user look alike, so none is known to be the own one") {
  REQUIRE_FALSE(ShowsRequest({{"UserName", "bob"}, {"Password", "Tr0ub4dor&3"}},
                             {{"@odata.type", "#Session.v1_3_0.Session"}, {"UserName", "bob"}}));
}

TEST_CASE("the fate of a request without an answer is judged by what the host shows") {
  const Step step = Reset();
  const Json before = Seen(step, {{"PowerState", "Off"}, {"LastResetTime", "2026"}}).values;
  const auto fate = [&](const Json& body) { return FateOf(step, before, Seen(step, body)); };
  REQUIRE(fate({{"PowerState", "On"}, {"LastResetTime", "2027"}}) == Fate::kDone);
  REQUIRE(fate({{"PowerState", "Off"}, {"LastResetTime", "2026"}}) == Fate::kNotDone);
  // It was taken, and its result is still to come.
  REQUIRE(fate({{"PowerState", "Off"}, {"LastResetTime", "2027"}}) == Fate::kDone);
  REQUIRE(fate({{"PowerState", "Paused"}, {"LastResetTime", "2026"}}) == Fate::kUnclear);
}

TEST_CASE("a request that shows nothing is repeated only if repeating it is harmless") {
  const Sight nothing = SightOf({}, {}, {});
  REQUIRE(FateOf({.method = "PATCH"}, {}, nothing) == Fate::kNotDone);
  REQUIRE(FateOf({.method = "DELETE"}, {}, nothing) == Fate::kNotDone);
  REQUIRE(FateOf({.method = "POST"}, {}, nothing) == Fate::kUnclear);
}

}  // namespace shoal::operate
