// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/manager.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

const std::string kManagerOfDell = "/redfish/v1/Managers/iDRAC.Embedded.1";

std::string ShownTime(Instance& instance, const std::string& uri = kManagerOfDell) {
  const Response response = Get(instance, uri);
  REQUIRE(Json::parse(*response.body) == *response.json);
  return response.json->at("DateTime");
}

}  // namespace

TEST_CASE("A manager's time runs on a real clock, in its offset, and no ETag changes") {
  Instance instance(WorldOf("dell-r750"),
                    {.clock = ClockKind::kReal, .epoch = std::chrono::seconds(86'400)});
  const std::string etag = Get(instance, kManagerOfDell).etag;
  REQUIRE(ShownTime(instance) == "1970-01-01T19:00:00-05:00");
  instance.Advance(std::chrono::minutes(90));
  REQUIRE(ShownTime(instance) == "1970-01-01T20:30:00-05:00");
  REQUIRE(Get(instance, kManagerOfDell).etag == etag);
  const Response selected = Get(instance, kManagerOfDell + "?$select=DateTime");
  REQUIRE(selected.json->at("DateTime") == "1970-01-01T20:30:00-05:00");
  const Response expanded = Get(instance, "/redfish/v1/Managers?$expand=.");
  REQUIRE(expanded.json->at("Members").at(0).at("DateTime") == "1970-01-01T20:30:00-05:00");
  REQUIRE(instance.changed_resources() == 0);
}

TEST_CASE("A manager's time that a client sets runs on from there") {
  Instance instance(WorldOf("dell-r750"),
                    {.clock = ClockKind::kReal, .epoch = std::chrono::seconds(86'400)});
  const Response set =
      Patch(instance, kManagerOfDell,
            {{"DateTime", "2030-01-01T00:00:00Z"}, {"DateTimeLocalOffset", "+05:30"}});
  INFO(*set.body);
  REQUIRE(set.status == 200);
  REQUIRE(set.json->at("DateTime") == "2030-01-01T05:30:00+05:30");
  instance.Advance(std::chrono::hours(1));
  REQUIRE(ShownTime(instance) == "2030-01-01T06:30:00+05:30");
  REQUIRE(Patch(instance, kManagerOfDell, {{"DateTime", "9999-12-31T23:59:59Z"}}).status == 200);
  instance.Advance(std::chrono::hours(1));
  REQUIRE(ShownTime(instance).starts_with("9999-12-31T"));
  REQUIRE(instance.Reset().ok());
  REQUIRE(ShownTime(instance).starts_with("1970-01-01T"));
}

TEST_CASE("A manager's time on a virtual clock is the captured one until it is set") {
  Instance instance(WorldOf("dell-r750"));
  const std::string captured = ShownTime(instance);
  instance.Advance(std::chrono::hours(1));
  REQUIRE(ShownTime(instance) == captured);
  const std::string set = "2030-01-01T00:00:00Z";
  REQUIRE(Patch(instance, kManagerOfDell, {{"DateTime", set}}).status == 200);
  REQUIRE(ShownTime(instance) == set);
}

}  // namespace shoal::mockserver
