// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/uri.h"

#include <catch2/catch.hpp>

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

TEST_CASE("A URI loses host, query, fragment, doubled and trailing slashes") {
  REQUIRE(CanonicalUri("/redfish/v1/") == "/redfish/v1");
  REQUIRE(CanonicalUri("//redfish//v1///Systems/") == "/redfish/v1/Systems");
  REQUIRE(CanonicalUri("/redfish/v1/Systems?$top=1") == "/redfish/v1/Systems");
  REQUIRE(CanonicalUri("/redfish/v1/Chassis/1/Power#/PowerSupplies/0") ==
          "/redfish/v1/Chassis/1/Power");
  REQUIRE(CanonicalUri("https://bmc.example/redfish/v1/Systems/") == "/redfish/v1/Systems");
  REQUIRE(CanonicalUri("/") == "/");
  REQUIRE(CanonicalUri("").empty());
}

TEST_CASE("A URI is below another where a segment begins") {
  REQUIRE(IsAtOrBelow("/redfish/v1/Systems", "/redfish/v1/Systems"));
  REQUIRE(IsAtOrBelow("/redfish/v1/Systems/1", "/redfish/v1/Systems"));
  REQUIRE_FALSE(IsAtOrBelow("/redfish/v1/SystemsOfOld", "/redfish/v1/Systems"));
  REQUIRE_FALSE(IsAtOrBelow("/redfish/v1", "/redfish/v1/Systems"));
}

TEST_CASE("Pointers name members, elements and escaped names") {
  const Json value = Json::parse(R"({"a/b": {"~": [10, 20]}, "": 1})");
  REQUIRE(*Resolve(value, "/a~1b/~0/1") == 20);
  REQUIRE(*Resolve(value, "") == value);
  REQUIRE(Resolve(value, "/a~1b/~0/2") == nullptr);
  REQUIRE(Resolve(value, "/a~1b/~0/x") == nullptr);
  REQUIRE(Resolve(value, "/a~1b/~0/-1") == nullptr);
  REQUIRE(Resolve(value, "/missing/deeper") == nullptr);
  REQUIRE(AppendPointer("/a", "b/~") == "/a/b~1~0");
  REQUIRE(PointerTokens(AppendPointer("", "b/~")).front() == "b/~");
}

TEST_CASE("Assign makes objects on the way and refuses to go through other values") {
  Json value = Json::object();
  REQUIRE(Assign(value, "/Boot/BootOrder", Json::array({"A"})));
  REQUIRE(Assign(value, "/Boot/BootOrder/0", "B"));
  REQUIRE(value == Json::parse(R"({"Boot": {"BootOrder": ["B"]}})"));
  REQUIRE_FALSE(Assign(value, "/Boot/BootOrder/1", "C"));
  REQUIRE_FALSE(Assign(value, "/Boot/BootOrder/0/deeper", "C"));
}

TEST_CASE("A link's target is canonical and empty for what is no link") {
  REQUIRE(LinkTarget(Json::parse(R"({"@odata.id": "/redfish/v1/Systems/1/"})")) ==
          "/redfish/v1/Systems/1");
  REQUIRE(LinkTarget(Json::parse(R"({"@odata.id": 4})")).empty());
  REQUIRE(LinkTarget(Json("text")).empty());
  REQUIRE(FirstLinkTarget(nullptr).empty());
}

TEST_CASE("The members of a collection are the links among its Members, in their order") {
  const Json collection = Json::parse(R"({"Members": [
      {"@odata.id": "/redfish/v1/Systems/2/"}, 7, {"Name": "no link"},
      {"@odata.id": "/redfish/v1/Systems/1", "Name": "whole"}]})");
  REQUIRE(MemberUris(collection) ==
          std::vector<std::string>{"/redfish/v1/Systems/2", "/redfish/v1/Systems/1"});
  REQUIRE(MemberUris(Json::parse(R"({"Members": {"@odata.id": "/a"}})")).empty());
  REQUIRE(MemberUris(Json::object()).empty());
  REQUIRE(MemberUris(Json(Json::value_t::discarded)).empty());
  REQUIRE(LinkTargets(nullptr).empty());
}

}  // namespace
}  // namespace shoal::redfish
