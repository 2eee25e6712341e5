// SPDX-License-Identifier: Apache-2.0
#include "operate/shortening.h"

#include <catch2/catch.hpp>

#include "redfish/capture/landmarks.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/goal.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

const std::string kAccounts = "/redfish/v1/AccountService/Accounts";

struct TriedRackmount {
  explicit TriedRackmount(std::optional<redfish::Watch> watched = std::nullopt)
      : watch(std::move(watched)) {}

  std::optional<redfish::Watch> watch;
  std::shared_ptr<const redfish::Capture> capture =
      redfish::Capture::Load("data/captures/dmtf-rackmount1.tar.xz").value();
  std::string system = redfish::FindLandmarks(*capture).system;
  std::unique_ptr<Twin> twin =
      Twin::Create(capture, redfish::Schema::Load("data/schema/redfish.schema.zst").value(),
                   {.account_password = "Tr0ub4dor&3", .watch = watch})
          .value();

  // Logs the first account in and returns the token.
  std::string LogIn() const {
    const redfish::Capture::Resources& resources = capture->resources();
    const Json user =
        resources.at(redfish::MemberUris(resources.at(kAccounts)).at(0)).at("UserName");
    return Send("POST", "/redfish/v1/SessionService/Sessions",
                {{"UserName", user}, {"Password", "Tr0ub4dor&3"}})
        .token;
  }
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
  rackmount.Send("PATCH", rackmount.system, {{"AssetTag", "other"}});
  const std::string token = rackmount.LogIn();
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
  const std::string system = TriedRackmount().system;
  const TriedRackmount rackmount(
      redfish::Watch::Parse({{"predicate", {{"all", Json::array()}}},
                             {"milestones", Json::array()},
                             {"allowed", {{{"uri", system}, {"pointer", "/AssetTag"}}}}})
          .value());
  const auto effects = [&rackmount] { return rackmount.twin->Evaluate().collateral; };
  REQUIRE(effects() == 0);
  rackmount.Send("PATCH", system, {{"AssetTag", "wanted"}});
  REQUIRE(effects() == 0);
  rackmount.Send("PATCH", system, {{"Boot", {{"BootSourceOverrideTarget", "Cd"}}}});
  REQUIRE(effects() == 1);
  rackmount.Send("POST", kAccounts, Account("needless"));
  REQUIRE(effects() == 2);
  REQUIRE(rackmount.twin->StartOver().ok());
  REQUIRE(effects() == 0);
  REQUIRE(rackmount.twin->TakeSteps().empty());
}

TEST_CASE("a login of one's own is no side effect") {
  const TriedRackmount rackmount(redfish::Watch::Parse({{"predicate", {{"all", Json::array()}}},
                                                        {"milestones", Json::array()},
                                                        {"allowed", Json::array()}})
                                     .value());
  REQUIRE(rackmount.LogIn().size() > 0);
  REQUIRE(rackmount.twin->Evaluate().collateral == 0);
}

}  // namespace shoal::operate
