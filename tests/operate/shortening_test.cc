// SPDX-License-Identifier: Apache-2.0
#include "operate/shortening.h"

#include <catch2/catch.hpp>

#include "redfish/capture/landmarks.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/goal.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

struct TriedRackmount {
  std::shared_ptr<const redfish::Capture> capture =
      redfish::Capture::Load("data/captures/dmtf-rackmount1.tar.xz").value();
  std::string system = redfish::FindLandmarks(*capture).system;
  std::unique_ptr<Twin> twin =
      Twin::Create(capture, redfish::Schema::Load("data/schema/redfish.schema.zst").value(),
                   {.account_password = "Tr0ub4dor&3"})
          .value();

  redfish::PlanReply Send(const std::string& method, const std::string& uri, Json body = nullptr,
                          const std::string& token = "") const {
    return twin->Send({.method = method, .uri = uri, .body = std::move(body), .token = token});
  }
};

redfish::Predicate Equals(const std::string& uri, const std::string& pointer, const Json& value) {
  return redfish::Predicate::Parse(
             {{"equals", {{"uri", uri}, {"pointer", pointer}, {"value", value}}}})
      .value();
}

const std::string kAccounts = "/redfish/v1/AccountService/Accounts";

Json Account(const std::string& name) {
  return {{"UserName", name}, {"Password", "Tr0ub4dor&3"}, {"RoleId", "Operator"}};
}

}  // namespace

TEST_CASE("requests that were refused, undone or said twice are left out") {
  const TriedRackmount rackmount;
  rackmount.Send("PATCH", rackmount.system, {{"AssetTag", 7}});
  rackmount.Send("PATCH", rackmount.system, {{"AssetTag", "first"}});
  rackmount.Send("PATCH", rackmount.system, {{"AssetTag", "wanted"}});
  rackmount.Send("PATCH", rackmount.system, {{"AssetTag", "wanted"}});
  const auto steps = Shorten(rackmount.twin->TakeSteps(),
                             Equals(rackmount.system, "/AssetTag", "wanted"), *rackmount.twin);
  REQUIRE(steps.ok());
  REQUIRE(steps->size() == 1);
  REQUIRE(steps->front().body == Json({{"AssetTag", "wanted"}}));
  REQUIRE(rackmount.twin->TakeSteps().size() == 1);
}

TEST_CASE("a request to a member follows it to the URI that it gets without the earlier ones") {
  const TriedRackmount rackmount;
  rackmount.Send("POST", kAccounts, Account("needless"));
  const std::string made = rackmount.Send("POST", kAccounts, Account("wanted")).location;
  rackmount.Send("PATCH", made, {{"Enabled", false}});
  const Json member = {{"all",
                        {{{"equals", {{"pointer", "/UserName"}, {"value", "wanted"}}}},
                         {{"equals", {{"pointer", "/Enabled"}, {"value", false}}}}}}};
  const auto wanted =
      redfish::Predicate::Parse({{"some", {{"members", kAccounts}, {"holds", member}}}});
  INFO(wanted.status().message());
  REQUIRE(wanted.ok());
  const auto steps = Shorten(rackmount.twin->TakeSteps(), *wanted, *rackmount.twin);
  INFO(steps.status().message());
  REQUIRE(steps.ok());
  REQUIRE(steps->size() == 2);
  REQUIRE(steps->front().body.at("UserName") == "wanted");
  REQUIRE(wanted->Evaluate(*rackmount.twin));
}

TEST_CASE("a login stays where a later request is sent in its name") {
  const TriedRackmount rackmount;
  const std::string account =
      redfish::MemberUris(rackmount.capture->resources().at(kAccounts)).at(0);
  const Json user = rackmount.capture->resources().at(account).at("UserName");
  rackmount.Send("PATCH", rackmount.system, {{"AssetTag", "other"}});
  const std::string token = rackmount
                                .Send("POST", "/redfish/v1/SessionService/Sessions",
                                      {{"UserName", user}, {"Password", "Tr0ub4dor&3"}})
                                .token;
  REQUIRE_FALSE(token.empty());
  rackmount.Send("PATCH", rackmount.system, {{"AssetTag", "wanted"}}, token);
  const auto steps = Shorten(rackmount.twin->TakeSteps(),
                             Equals(rackmount.system, "/AssetTag", "wanted"), *rackmount.twin);
  INFO(steps.status().message());
  REQUIRE(steps.ok());
  REQUIRE(steps->size() == 2);
  REQUIRE(steps->at(1).session == 0);
}

TEST_CASE("requests that do not reach the goal are no solution") {
  const TriedRackmount rackmount;
  rackmount.Send("PATCH", rackmount.system, {{"AssetTag", "other"}});
  REQUIRE(absl::IsFailedPrecondition(Shorten(rackmount.twin->TakeSteps(),
                                             Equals(rackmount.system, "/AssetTag", "wanted"),
                                             *rackmount.twin)
                                         .status()));
}

TEST_CASE("side effects are what changed, came and went, and that the goal does not allow") {
  const TriedRackmount rackmount;
  const auto watch =
      redfish::Watch::Parse({{"predicate", {{"all", Json::array()}}},
                             {"milestones", Json::array()},
                             {"allowed", {{{"uri", rackmount.system}, {"pointer", "/AssetTag"}}}}})
          .value();
  REQUIRE(rackmount.twin->SideEffects(watch).empty());
  rackmount.Send("PATCH", rackmount.system, {{"AssetTag", "wanted"}});
  REQUIRE(rackmount.twin->SideEffects(watch).empty());
  rackmount.Send("PATCH", rackmount.system, {{"Boot", {{"BootSourceOverrideTarget", "Cd"}}}});
  REQUIRE(rackmount.twin->SideEffects(watch) ==
          std::vector<std::string>{rackmount.system + " /Boot/BootSourceOverrideTarget"});
  const std::string made = rackmount.Send("POST", kAccounts, Account("needless")).location;
  REQUIRE(rackmount.twin->SideEffects(watch).front() == made);
  REQUIRE(rackmount.twin->StartOver().ok());
  REQUIRE(rackmount.twin->SideEffects(watch).empty());
  REQUIRE(rackmount.twin->TakeSteps().empty());
}

}  // namespace shoal::operate
