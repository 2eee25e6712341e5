// SPDX-License-Identifier: Apache-2.0
#include "operate/twin.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "operate/goal_choice.h"
#include "operate/solver.h"
#include "redfish/capture/landmarks.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

struct Rackmount {
  std::shared_ptr<const redfish::Schema> schema =
      redfish::Schema::Load("data/schema/redfish.schema.zst").value();
  std::shared_ptr<const redfish::Capture> capture =
      redfish::Capture::Load("data/captures/dmtf-rackmount1.tar.xz").value();
  redfish::GoalSuite suite = redfish::LoadGoals("data/goals").value();
};

const Rackmount& Shared() {
  static const Rackmount rackmount;
  return rackmount;
}

void AddLinks(const Json& json, std::vector<std::string>& links) {
  if (!json.is_structured()) return;
  if (json.is_object() && json.contains("@odata.id") && json.at("@odata.id").is_string()) {
    links.push_back(json.at("@odata.id").get<std::string>());
  }
  for (const Json& item : json) AddLinks(item, links);
}

const Effect* EffectOn(const Step& step, const std::string& pointer) {
  const auto found = std::find_if(step.effects.begin(), step.effects.end(),
                                  [&](const Effect& effect) { return effect.pointer == pointer; });
  return found == step.effects.end() ? nullptr : &*found;
}

// Returns `capture` as its service shows it now, with what was made since.
std::shared_ptr<const redfish::Capture> PresentOf(const redfish::Capture& capture,
                                                  const mockserver::Instance& service) {
  redfish::Capture::Resources resources;
  std::vector<std::string> open;
  for (const auto& [uri, body] : capture.resources()) open.push_back(uri);
  while (!open.empty()) {
    const std::string uri = open.back();
    open.pop_back();
    const Json* const body = service.Find(uri);
    if (body == nullptr || !resources.emplace(uri, *body).second) continue;
    AddLinks(*body, open);
  }
  return redfish::Capture::FromResources(capture.name(), resources).value();
}

}  // namespace

TEST_CASE("a twin notes each request with what it changed until the next one") {
  const Rackmount& rackmount = Shared();
  const auto twin = Twin::Create(rackmount.capture, rackmount.schema, {}).value();
  const std::string system = redfish::FindLandmarks(*rackmount.capture).system;
  REQUIRE(twin->Send({.method = "GET", .uri = system, .body = nullptr, .token = ""}).status == 200);
  REQUIRE(twin->Send({.method = "PATCH", .uri = system, .body = {{"AssetTag", "T-1"}}, .token = ""})
              .status == 200);
  twin->Wait(std::chrono::seconds(1));
  REQUIRE(twin->Send({.method = "PATCH", .uri = system, .body = {{"AssetTag", 7}}, .token = ""})
              .status == 400);
  const std::vector<Step> steps = twin->TakeSteps();
  REQUIRE(steps.size() == 2);
  const Effect* const tag = EffectOn(steps[0], "/AssetTag");
  REQUIRE(tag != nullptr);
  REQUIRE(tag->matters);
  REQUIRE(tag->after == "T-1");
  REQUIRE(steps[1].effects.empty());
  REQUIRE(steps[1].status == 400);
  REQUIRE(twin->touched().contains(system));
}

TEST_CASE("a member that a request makes is an effect, and so is its removal") {
  const Rackmount& rackmount = Shared();
  const auto twin = Twin::Create(rackmount.capture, rackmount.schema, {}).value();
  const std::string accounts = "/redfish/v1/AccountService/Accounts";
  const Json body = {{"UserName", "bob"}, {"Password", "Tr0ub4dor&3"}, {"RoleId", "Operator"}};
  const auto made = twin->Send({.method = "POST", .uri = accounts, .body = body, .token = ""});
  REQUIRE(made.status == 201);
  REQUIRE(
      twin->Send({.method = "DELETE", .uri = made.location, .body = nullptr, .token = ""}).status <
      300);
  const std::vector<Step> steps = twin->TakeSteps();
  const Effect* const came = EffectOn(steps.at(0), "");
  REQUIRE(came != nullptr);
  REQUIRE(came->matters);
  REQUIRE(came->uri == steps[0].location);
  REQUIRE(came->before.is_null());
  const Effect* const went = EffectOn(steps.at(1), "");
  REQUIRE(went != nullptr);
  REQUIRE(went->after.is_null());
  REQUIRE(EffectOn(steps[1], "/Members") != nullptr);
}

TEST_CASE("a goal with given values is reached on a twin by the expert, and then holds") {
  const Rackmount& rackmount = Shared();
  const auto goal = FindGoal(rackmount.suite, "4").value();
  const auto applied =
      redfish::AppliedGoal::Create(goal, *rackmount.capture, rackmount.suite).value();
  const redfish::Episode episode = applied->EpisodeWith({{"AssetTag", "RACK-17"}}).value();
  const auto twin = Twin::Create(rackmount.capture, rackmount.schema, {}).value();
  REQUIRE_FALSE(episode.watch->predicate().Evaluate(*twin));
  REQUIRE(ExpertSolver().Solve(*applied, episode, *twin).ok());
  REQUIRE(episode.watch->predicate().Evaluate(*twin));
  REQUIRE(twin->TakeSteps().size() == 2);
}

TEST_CASE("a stage begins where the one before it ended, and starting over leads back there") {
  const Rackmount& rackmount = Shared();
  const std::string system = redfish::FindLandmarks(*rackmount.capture).system;
  const auto twin = Twin::Create(rackmount.capture, rackmount.schema, {}).value();
  const auto tag = [&](const std::string& value) {
    twin->Send({.method = "PATCH", .uri = system, .body = {{"AssetTag", value}}, .token = ""});
  };
  tag("first");
  std::vector<Step> first = twin->TakeSteps();
  REQUIRE(first.size() == 1);
  const redfish::Watch nothing = redfish::Watch::Parse({{"predicate", {{"all", Json::array()}}},
                                                        {"milestones", Json::array()},
                                                        {"allowed", Json::array()}})
                                     .value();
  REQUIRE(twin->BeginStage(nothing, std::move(first)).ok());
  REQUIRE(twin->Evaluate().collateral == 0);
  REQUIRE(twin->Find(system)->at("AssetTag") == "first");
  for (int attempt = 0; attempt < 2; ++attempt) {
    tag("second");
    REQUIRE(twin->Evaluate().collateral == 1);
    const std::vector<Step> second = twin->TakeSteps();
    REQUIRE(second.size() == 1);
    REQUIRE(EffectOn(second[0], "/AssetTag")->before == "first");
    REQUIRE(twin->StartOver().ok());
    REQUIRE(twin->Find(system)->at("AssetTag") == "first");
    REQUIRE(twin->Evaluate().collateral == 0);
  }
}

TEST_CASE("what an earlier stage put into settings matters where a later one applies it") {
  const Rackmount& rackmount = Shared();
  const redfish::Landmarks landmarks = redfish::FindLandmarks(*rackmount.capture);
  const auto twin = Twin::Create(rackmount.capture, rackmount.schema, {}).value();
  const auto goal = FindGoal(rackmount.suite, "bios_attribute").value();
  const auto applied =
      redfish::AppliedGoal::Create(goal, *rackmount.capture, rackmount.suite).value();
  const redfish::Episode episode = applied->DrawEpisode(1, 0, redfish::Split::kEvaluate).value();
  REQUIRE(ExpertSolver().Solve(*applied, episode, *twin).ok());
  const std::vector<Step> whole = twin->TakeSteps();
  const auto matters = [](const Step& step) {
    return std::count_if(step.effects.begin(), step.effects.end(), [](const Effect& effect) {
      return effect.matters && effect.pointer.starts_with("/Attributes/");
    });
  };
  REQUIRE(whole.size() >= 2);
  REQUIRE(matters(whole.back()) > 0);

  const auto again = Twin::Create(rackmount.capture, rackmount.schema, {}).value();
  std::vector<Step> taken;
  for (const Step& step : whole) {
    REQUIRE(again->BeginStage(std::nullopt, taken).ok());
    again->Send({.method = step.method, .uri = step.uri, .body = step.body, .token = ""});
    again->Wait(kSettles);
    for (Step& one : again->TakeSteps()) taken.push_back(std::move(one));
  }
  REQUIRE(taken.size() == whole.size());
  REQUIRE(matters(taken.back()) == matters(whole.back()));
}

TEST_CASE("an update that waits for a boot is known to the twin by its task, and needs no other") {
  for (const char* name : {"dmtf-rackmount1", "dell-r750"}) {
    INFO(name);
    const Rackmount& rackmount = Shared();
    const auto capture =
        redfish::Capture::Load("data/captures/" + std::string(name) + ".tar.xz").value();
    const auto applied =
        redfish::AppliedGoal::Create(FindGoal(rackmount.suite, "firmware_update").value(), *capture,
                                     rackmount.suite)
            .value();
    std::uint64_t number = 0;
    redfish::Episode drawn = applied->DrawEpisode(1, number, redfish::Split::kTrain).value();
    while (drawn.situation != "staged") {
      drawn = applied->DrawEpisode(1, ++number, redfish::Split::kTrain).value();
    }
    mockserver::Instance service(mockserver::World::Create(capture, rackmount.schema).value());
    REQUIRE(service.Reset(drawn.start).ok());
    const auto twin = Twin::Create(PresentOf(*capture, service), rackmount.schema, {}).value();
    REQUIRE(ExpertSolver().Solve(*applied, drawn, *twin).ok());
    REQUIRE(drawn.watch->predicate().Evaluate(*twin));
    const std::vector<Step> steps = twin->TakeSteps();
    REQUIRE(steps.size() == 1);
    REQUIRE(steps[0].uri.ends_with("ComputerSystem.Reset"));
  }
}

TEST_CASE("a pending reset of a BIOS without settings is known to the twin") {
  const Rackmount& rackmount = Shared();
  const std::string bios = redfish::FindLandmarks(*rackmount.capture).system + "/Bios";
  redfish::Capture::Resources resources = rackmount.capture->resources();
  resources.at(bios).erase("@Redfish.Settings");
  resources.at(bios)["ResetBiosToDefaultsPending"] = true;
  const auto twin =
      Twin::Create(redfish::Capture::FromResources("one", resources).value(), rackmount.schema, {})
          .value();
  const Json reset = {{"ResetType", "ForceRestart"}};
  REQUIRE(twin->Send({.method = "POST",
                      .uri = redfish::FindLandmarks(*rackmount.capture).system +
                             "/Actions/ComputerSystem.Reset",
                      .body = reset,
                      .token = ""})
              .status < 300);
  twin->Wait(std::chrono::minutes(1));
  REQUIRE(twin->Find(bios)->at("ResetBiosToDefaultsPending") == false);
}

TEST_CASE("a goal names the value that it misses, and one that it does not know") {
  const Rackmount& rackmount = Shared();
  const auto applied = redfish::AppliedGoal::Create(FindGoal(rackmount.suite, "asset_tag").value(),
                                                    *rackmount.capture, rackmount.suite)
                           .value();
  const auto refusal = [&](const redfish::Values& values) {
    const auto episode = applied->EpisodeWith(values);
    REQUIRE(absl::IsInvalidArgument(episode.status()));
    return std::string(episode.status().message());
  };
  REQUIRE(refusal({}).find("AssetTag") != std::string::npos);
  REQUIRE(refusal({{"AssetTag", "a"}, {"Colour", "b"}}).find("Colour") != std::string::npos);
  REQUIRE(refusal({{"AssetTag", 3}}).find("text") != std::string::npos);
}

}  // namespace shoal::operate
