// SPDX-License-Identifier: Apache-2.0
#include "mockserver/instance/instance.h"

#include <catch2/catch.hpp>

#include "mockserver/faults/fault.h"
#include "mockserver/rules/rules.h"
#include "tests/mockserver/service/services.h"

namespace shoal::mockserver {
namespace {

std::string BodyBytes(const Response& response) {
  std::string bytes = std::to_string(response.status) + ' ' + response.etag + ' ' +
                      response.location + ' ' + (response.dropped ? "dropped" : "") + '\n';
  for (const auto& [name, value] : response.headers) bytes += name + ": " + value + '\n';
  return response.body == nullptr ? bytes : bytes + *response.body;
}

// Logs in, makes changes, resets and lets time pass, with faults. Returns all answers, then the
// history.
std::string Use(Instance& instance, const Service& service) {
  const redfish::Landmarks places = LandmarksOf(instance.world());
  std::string bytes;
  for (int i = 0; i < 12; ++i) {
    bytes += BodyBytes(LogIn(instance, service.user, kPasswordOfAll));
    bytes += BodyBytes(Patch(instance, places.system, {{"AssetTag", "tag-" + std::to_string(i)}}));
    bytes += BodyBytes(ResetOf(instance, places.system, i % 2 == 0 ? "ForceOff" : "On"));
    bytes += BodyBytes(Get(instance, kSessions));
    bytes += BodyBytes(Get(instance, places.system));
    instance.Advance(std::chrono::milliseconds(700));
  }
  for (const redfish::HistoryRecord& record : instance.history()) {
    bytes += record.kind + record.uri + record.detail.dump() + std::to_string(record.time) + '\n';
  }
  return bytes + std::to_string(instance.now().count());
}

InstanceOptions Options(std::uint64_t seed) {
  const Json faults = Json::parse(R"([
    {"name": "busy", "path": "/redfish/v1/Systems/**", "status": 503, "probability": 0.2},
    {"name": "few", "path": "/redfish/v1/**", "status": 500, "count": 9, "probability": 0.2},
    {"name": "flap", "path": "/redfish/v1/SessionService/**", "drop": "answer",
     "flap": {"fails": 1, "works": 3}}])");
  return {.seed = seed,
          .power_transient = std::chrono::milliseconds(1000),
          .faults = FaultSet::Parse({{"faults", faults}}).value()};
}

}  // namespace

TEST_CASE("The same requests after a restore give the same bytes, on every capture") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture), Options(5));
    const std::string before = Use(instance, service);
    REQUIRE(instance.Save("mid").ok());
    const std::string first = Use(instance, service);
    REQUIRE(instance.Restore("mid").ok());
    REQUIRE(Use(instance, service) == first);
    // Neither a reset nor a later savepoint changes this savepoint.
    REQUIRE(instance.Save("late").ok());
    REQUIRE(instance.Reset().ok());
    REQUIRE(Use(instance, service) == before);
    REQUIRE(instance.Restore("mid").ok());
    REQUIRE(Use(instance, service) == first);
    const std::string on_from_late = [&] {
      REQUIRE(instance.Restore("late").ok());
      return Use(instance, service);
    }();
    REQUIRE(on_from_late != first);
    REQUIRE(instance.Restore("late").ok());
    REQUIRE(Use(instance, service) == on_from_late);
  }
}

TEST_CASE("A restore brings back the watch's milestones, timers and what was taught") {
  Instance instance(WorldOf("openbmc-stock"), {.power_transient = std::chrono::milliseconds(1000)});
  const std::string system = "/redfish/v1/Systems/system";
  const Json on = {{"equals", {{"uri", system}, {"pointer", "/PowerState"}, {"value", "On"}}}};
  REQUIRE(instance.Reset({}, WatchFor(on, Json::array({on}))).ok());
  ResetOf(instance, system, "On");
  REQUIRE(At(instance, system, "/PowerState") == "PoweringOn");
  REQUIRE(instance.Save("powering-on").ok());
  instance.Advance(std::chrono::seconds(1));
  REQUIRE(instance.Evaluate().milestones == 1);
  const Json rule = {
      {"name", "no"}, {"method", "GET"}, {"path", system}, {"respond", {{"status", 418}}}};
  instance.SetRules(RuleSet::Parse({{"rules", Json::array({rule})}}).value());
  REQUIRE(Get(instance, system).status == 418);

  REQUIRE(instance.Restore("powering-on").ok());
  REQUIRE(Get(instance, system).status == 200);
  REQUIRE(At(instance, system, "/PowerState") == "PoweringOn");
  REQUIRE(instance.Evaluate().milestones == 0);
  instance.Advance(std::chrono::seconds(1));
  REQUIRE(At(instance, system, "/PowerState") == "On");
  REQUIRE(instance.Evaluate().satisfied);
}

TEST_CASE("A savepoint shares bodies until one side changes them") {
  Instance instance(WorldOf("openbmc-stock"));
  const std::string system = "/redfish/v1/Systems/system";
  REQUIRE(Patch(instance, system, {{"LocationIndicatorActive", true}}).status == 200);
  const auto body = Get(instance, system).body;
  REQUIRE(instance.Save("one").ok());
  REQUIRE(Get(instance, system).body == body);
  REQUIRE(Patch(instance, system, {{"LocationIndicatorActive", false}}).status == 200);
  REQUIRE(instance.Restore("one").ok());
  REQUIRE(Get(instance, system).body == body);
  REQUIRE(At(instance, system, "/LocationIndicatorActive") == true);
}

TEST_CASE("Dates of a real clock go on through a restore") {
  Instance instance(WorldOf("openbmc-stock"), {.clock = ClockKind::kReal});
  const std::string manager = LandmarksOf(instance.world()).manager;
  instance.Advance(std::chrono::seconds(10));
  REQUIRE(instance.Save("ten").ok());
  instance.Advance(std::chrono::seconds(50));
  REQUIRE(instance.Restore("ten").ok());
  REQUIRE(instance.now() == std::chrono::seconds(10));
  instance.Advance(std::chrono::seconds(1));
  REQUIRE(LogIn(instance, "root", kPasswordOfAll).body->find("1970-01-01T00:01:01Z") !=
          std::string::npos);
}

TEST_CASE("Savepoints have names, are replaced, forgotten and bounded") {
  Instance instance(WorldOf("openbmc-stock"));
  REQUIRE(instance.Restore("none").code() == absl::StatusCode::kNotFound);
  REQUIRE(instance.Save("a b").code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(instance.Save("").code() == absl::StatusCode::kInvalidArgument);
  for (std::size_t i = 0; i < Instance::kMaximumSavepoints; ++i) {
    REQUIRE(instance.Save("s" + std::to_string(i)).ok());
  }
  REQUIRE(instance.Save("more").code() == absl::StatusCode::kResourceExhausted);
  instance.Advance(std::chrono::seconds(3));
  REQUIRE(instance.Save("s0").ok());
  REQUIRE(instance.Forget("s1"));
  REQUIRE(!instance.Forget("s1"));
  REQUIRE(instance.Save("more").ok());
  REQUIRE(instance.Restore("s0").ok());
  REQUIRE(instance.now() == std::chrono::seconds(3));
}

}  // namespace shoal::mockserver
