// SPDX-License-Identifier: Apache-2.0
#include "operate/planner.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "platform/http/server.h"
#include "redfish/capture/landmarks.h"

namespace shoal::operate {
namespace {

// A host that shows a capture and does nothing.
class ShownCapture {
 public:
  explicit ShownCapture(std::shared_ptr<const redfish::Capture> capture)
      : capture_(std::move(capture)),
        server_(http::Server::Create({}, [this](const auto& request) { return Show(request); })
                    .value()),
        host_({.access = {.connection = {.address = server_->address()}}, .name = "the host"},
              runtime::SystemClock(), [](runtime::Duration) { return false; }) {}

  absl::StatusOr<Announcement> Plan(const Wish& wish) {
    ExpertSolver expert;
    Planner planner(redfish::Schema::Load("data/schema/redfish.schema.zst").value(),
                    redfish::LoadGoals("data/goals").value(), expert);
    return planner.Plan(host_, *capture_, wish);
  }

 private:
  http::ServerResponse Show(const http::ServerRequest& request) const {
    const auto found = capture_->resources().find(std::string(request.target()));
    if (found == capture_->resources().end()) return {.status = 404};
    return {.body = std::make_shared<const std::string>(found->second.dump())};
  }

  const std::shared_ptr<const redfish::Capture> capture_;
  const std::unique_ptr<http::Server> server_;
  Host host_;
};

std::shared_ptr<const redfish::Capture> RackmountCapture() {
  return redfish::Capture::Load("data/captures/dmtf-rackmount1.tar.xz").value();
}

}  // namespace

TEST_CASE("goals are planned in their order, and an announcement asks for all of them") {
  ShownCapture host(RackmountCapture());
  const Wish wish = {
      .sentence = "both",
      .goals = {{.goal = "asset_tag", .values = {{"AssetTag", "RACK-17"}}}, {.goal = "locate"}}};
  const auto plan = host.Plan(wish);
  INFO(plan.status().message());
  REQUIRE(plan.ok());
  REQUIRE(plan->goal == "asset_tag+locate");
  REQUIRE(plan->values ==
          nlohmann::json::array({{{"AssetTag", "RACK-17"}}, nlohmann::json::object()}));
  REQUIRE(plan->steps.size() >= 3);
  REQUIRE(plan->steps.front().body.contains("AssetTag"));
  REQUIRE_FALSE(plan->steps.back().body.contains("AssetTag"));
  const std::size_t conditions = plan->predicate.at("all").size();
  REQUIRE(conditions > host.Plan({.goals = {{.goal = "locate"}}})->predicate.at("all").size());
}

TEST_CASE("of a goal whose targets are singled out the other requests are left out") {
  ShownCapture host(RackmountCapture());
  const auto plan = host.Plan(
      {.goals = {
           {.goal = "asset_tag", .values = {{"AssetTag", "RACK-17"}}, .targets = {"chassis"}}}});
  INFO(plan.status().message());
  REQUIRE(plan.ok());
  REQUIRE(plan->steps.size() == 1);
  REQUIRE(plan->steps.front().uri == redfish::FindLandmarks(*RackmountCapture()).chassis);
}

TEST_CASE("one goal is wanted twice, for two targets with different values") {
  ShownCapture host(RackmountCapture());
  const auto plan = host.Plan(
      {.goals = {
           {.goal = "asset_tag", .values = {{"AssetTag", "RACK-17"}}, .targets = {"chassis"}},
           {.goal = "asset_tag", .values = {{"AssetTag", "NODE-4"}}, .targets = {"system"}}}});
  INFO(plan.status().message());
  REQUIRE(plan.ok());
  REQUIRE(plan->goal == "asset_tag(chassis)+asset_tag(system)");
  REQUIRE(plan->steps.size() == 2);
  std::map<std::string, nlohmann::json> tags;
  for (const Step& step : plan->steps) tags[step.uri] = step.body.at("AssetTag");
  const redfish::Landmarks landmarks = redfish::FindLandmarks(*RackmountCapture());
  REQUIRE(tags.at(landmarks.chassis) == "RACK-17");
  REQUIRE(tags.at(landmarks.system) == "NODE-4");
}

TEST_CASE("goals that undo each other are refused, and the one that is undone is named") {
  ShownCapture host(RackmountCapture());
  const auto plan = host.Plan({.goals = {{.goal = "graceful_off"}, {.goal = "power_on"}}});
  REQUIRE(absl::IsFailedPrecondition(plan.status()));
  INFO(plan.status().message());
  REQUIRE(std::string(plan.status().message()).find("undo graceful_off") != std::string::npos);
}

}  // namespace shoal::operate
