// SPDX-License-Identifier: Apache-2.0
// Tests that a client cannot reach forbidden things by a detour.
#include <catch2/catch.hpp>
#include <string>

#include "mockserver/rules/rules.h"
#include "redfish/goals/predicate.h"
#include "tests/mockserver/service/services.h"

namespace shoal::mockserver {
namespace {

const std::string kUpdate = "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate";

InstanceOptions Guarded() {
  InstanceOptions options;
  options.task_duration = std::chrono::seconds(10);
  options.event_delivery = EventDelivery::kPush;
  options.authentication = Authentication::kRequired;
  return options;
}

Response As(Instance& instance, const std::string& user, Method method, std::string_view uri,
            const Json& body = nullptr) {
  return ByBasic(instance, method, uri, user, kPasswordOfAll, body);
}

// Adds an account that may only read, besides the capture's administrator.
void AddReader(Instance& instance, const Service& service) {
  const Json reader = {{"UserName", "reader"},
                       {"Password", kPasswordOfAll},
                       {"RoleId", "ReadOnly"},
                       {"Enabled", true}};
  const bool has_slots = instance.Find(kEmptySlot) != nullptr;
  const Response made = has_slots ? As(instance, service.user, Method::kPatch, kEmptySlot, reader)
                                  : As(instance, service.user, Method::kPost, kAccounts, reader);
  REQUIRE(made.status < 300);
}

}  // namespace

TEST_CASE("Another's task cannot be cancelled through its monitor") {
  for (const Service& service : kServices) {
    Instance instance(WorldOf(service.capture), Guarded());
    AddReader(instance, service);
    const Json image = {{"ImageURI", "http://images.example/bmc-1.2.bin"}};
    const Response started = As(instance, service.user, Method::kPost, kUpdate, image);
    if (started.status == 404) continue;
    INFO(service.capture);
    REQUIRE(started.status == 202);
    REQUIRE(As(instance, "reader", Method::kDelete, started.location).status == 403);
    REQUIRE(As(instance, "reader", Method::kGet, started.location).status == 202);
    REQUIRE(As(instance, service.user, Method::kDelete, started.location).status == 200);
  }
}

TEST_CASE("A rule acts only for those who might have asked the service itself") {
  const auto rules =
      RuleSet::Parse(
          {{"rules",
            Json::array(
                {{{"name", "tag"},
                  {"method", "PATCH"},
                  {"path", "/redfish/v1/Systems/*"},
                  {"do",
                   Json::array({{{"set", {{"pointer", "/AssetTag"}, {"value", "taught"}}}}})}}})}})
          .value();
  const Service& service = kServices[2];
  InstanceOptions options = Guarded();
  options.rules = rules;
  Instance instance(WorldOf(service.capture), options);
  AddReader(instance, service);
  const std::string system = LandmarksOf(instance.world()).system;
  REQUIRE(As(instance, "reader", Method::kPatch, system, {{"AssetTag", "x"}}).status == 403);
  REQUIRE(At(instance, system, "/AssetTag") != "taught");
  REQUIRE(As(instance, service.user, Method::kPatch, system, {{"AssetTag", "x"}}).status == 200);
  REQUIRE(At(instance, system, "/AssetTag") == "taught");
}

TEST_CASE("A rule for a collection holds for its Members too") {
  const auto rules = RuleSet::Parse({{"rules", Json::array({{{"name", "full"},
                                                             {"method", "POST"},
                                                             {"path", kSessions},
                                                             {"respond", {{"status", 503}}}}})}})
                         .value();
  Instance instance(WorldOf("dell-r750"), {.rules = rules});
  const Json login = {{"UserName", "root"}, {"Password", kPasswordOfAll}};
  REQUIRE(Post(instance, kSessions, login).status == 503);
  REQUIRE(Post(instance, std::string(kSessions) + "/Members", login).status == 503);
}

TEST_CASE("A secret below another property is not shown either") {
  Instance instance(WorldOf("openbmc-stock"));
  const Json body = {{"LDAP", {{"Authentication", {{"Password", "hunter2"}}}}}};
  REQUIRE(Patch(instance, kAccountService, body).status < 500);
  REQUIRE(Get(instance, kAccountService).body->find("hunter2") == std::string::npos);

  const Json subscription = {{"Destination", "https://events.example/"},
                             {"Protocol", "Redfish"},
                             {"SNMP", {{"AuthenticationKey", "Passphrase:topsecret"}}}};
  const Response made = Post(instance, "/redfish/v1/EventService/Subscriptions", subscription);
  if (made.status == 201) {
    REQUIRE(made.body->find("topsecret") == std::string::npos);
    REQUIRE(Get(instance, made.location).body->find("topsecret") == std::string::npos);
  }
}

TEST_CASE("A member that is posted takes neither an action's target nor another type") {
  Instance instance(WorldOf("dell-r750"));
  const std::string collection = "/redfish/v1/Systems/System.Embedded.1/BootOptions";
  const std::string system = LandmarksOf(instance.world()).system;
  const std::string target = At(instance, system, "/Actions/#ComputerSystem.Reset/target");
  const Json thief = {{"BootOptionEnabled", true},
                      {"@odata.type", "#Session.v1_5_0.Session"},
                      {"Actions", {{"#A@b", {{"target", target}}}}}};
  const Response made = Post(instance, collection, thief);
  REQUIRE(ResetOf(instance, system, "ForceOff").status == 200);
  if (made.status == 201) {
    REQUIRE(made.json->at("@odata.type").get<std::string>().starts_with("#BootOption."));
    REQUIRE(Delete(instance, made.location).status == 200);
  }
  REQUIRE(ResetOf(instance, system, "On").status == 200);
  REQUIRE(Post(instance, collection, {{"BootOptionEnabled", true}}).status == 201);
}

TEST_CASE("A query does not change which resource is asked for") {
  Instance instance(WorldOf("openbmc-stock"));
  const Response systems = Get(instance, "/redfish/v1/Systems");
  REQUIRE(Get(instance, "/redfish/v1/Systems/?a=http://x/redfish/v1").body == systems.body);
  REQUIRE(Get(instance, "/redfish/v1//Systems/?a=http://x/y#z").body == systems.body);
}

TEST_CASE("A history ends somewhere") {
  Instance instance(WorldOf("openbmc-stock"));
  for (std::size_t i = 0; i < kMaximumRecords + 10; ++i) {
    Editor(instance).Record(redfish::kResetRecord, 0, nullptr);
  }
  REQUIRE(instance.history().size() == kMaximumRecords);
}

TEST_CASE("A token goes with its session, however that goes") {
  Instance instance(WorldOf("hpe-dl380a-gen12"));
  const Response login = LogIn(instance, "Administrator", kPasswordOfAll);
  const std::string token = TokenOf(login);
  REQUIRE(ByToken(instance, Method::kDelete, login.location, token).status < 300);
  InstanceOptions options;
  options.authentication = Authentication::kRequired;
  Instance guarded(WorldOf("hpe-dl380a-gen12"), options);
  const Response second = LogIn(guarded, "Administrator", kPasswordOfAll);
  Editor editor(guarded);
  editor.RemoveMember(*editor.Find(second.location));
  REQUIRE(ByToken(guarded, Method::kGet, "/redfish/v1/Systems", TokenOf(second)).status == 401);
}

}  // namespace shoal::mockserver
