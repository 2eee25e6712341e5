// SPDX-License-Identifier: Apache-2.0
#include "mockserver/access/access.h"

#include <catch2/catch.hpp>

#include "tests/mockserver/service/services.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kRoot = "/redfish/v1";

InstanceOptions Required() { return {.authentication = Authentication::kRequired}; }

}  // namespace

TEST_CASE("Without credentials only the root and the login are open, and nothing is revealed") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture), Required());
    for (const char* open : {"/redfish", kRoot, "/redfish/v1/"}) {
      REQUIRE(Get(instance, open).status == 200);
    }
    for (const char* open : {"/redfish/v1/odata", "/redfish/v1/$metadata"}) {
      REQUIRE(Get(instance, open).status != 401);
    }
    for (const Request& request : std::initializer_list<Request>{
             {.uri = kSessions},
             {.uri = "/redfish/v1/Nothing"},
             {.uri = "/redfish/v1/openapi.yaml", .accept = "application/yaml"},
             {.uri = service.account, .if_none_match = "*"},
             {.method = Method::kDelete, .uri = kRoot},
             {.method = Method::kOther, .uri = kSessions},
             {.method = Method::kOptions, .uri = kSessions},
             {.method = Method::kPost, .uri = kAccounts, .body = "{"},
             {.method = Method::kPatch, .uri = service.account, .body = "{}", .if_match = "x"},
             {.method = Method::kPost, .uri = "/redfish/v1/Systems/Members"}}) {
      INFO(Name(request.method) << " " << request.uri);
      const Response refused = instance.Handle(request);
      REQUIRE(refused.status == 401);
      REQUIRE(refused.allow.empty());
      const bool advertises = std::string(service.capture) != "hpe-dl380a-gen12";
      REQUIRE(refused.Header("WWW-Authenticate").starts_with("Basic realm=\"") == advertises);
    }
    REQUIRE(instance.changed_resources() == 0);
    REQUIRE(instance.history().empty());
  }
}

TEST_CASE("The open root expands to nothing that is not open") {
  for (const Service& service : kServices) {
    Instance instance(WorldOf(service.capture), Required());
    const Response open = Get(instance, "/redfish/v1?$expand=*($levels=6)");
    REQUIRE(open.status == 200);
    REQUIRE(*open.json == *instance.Find(kRoot));
    const Response full =
        ByBasic(instance, Method::kGet, "/redfish/v1?$expand=.", service.user, kPasswordOfAll);
    REQUIRE(full.json->at("AccountService").size() > 1);
  }
}

TEST_CASE("A token or Basic credentials say who asks, and wrong ones are refused") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture), Required());
    const std::string token = TokenOf(LogIn(instance, service.user, kPasswordOfAll));
    REQUIRE(ByToken(instance, Method::kGet, kSessions, token).status == 200);
    REQUIRE(ByToken(instance, Method::kGet, "/redfish/v1/Nothing", token).status == 404);
    REQUIRE(ByToken(instance, Method::kDelete, kRoot, token).status == 405);
    REQUIRE(ByToken(instance, Method::kGet, kRoot, "0123").status == 200);
    const Response unknown = ByToken(instance, Method::kGet, kSessions, std::string(32, 'a'));
    REQUIRE(unknown.status == 401);
    REQUIRE(Messages(unknown) == Names{"NoValidSession"});
    REQUIRE(unknown.body->find("aaaaaaaa") == std::string::npos);

    REQUIRE(ByBasic(instance, Method::kGet, kSessions, service.user, kPasswordOfAll).status == 200);
    REQUIRE(ByBasic(instance, Method::kGet, kSessions, service.user, "wrong").status == 401);
    REQUIRE(ByBasic(instance, Method::kGet, kSessions, "nobody", kPasswordOfAll).status == 401);
    for (const char* header : {"Basic", "Basic ", "Basic !!!!", "Basic cm9vdA==", "Bearer abc",
                               "Basic cm9vdDo=", "Digest username=\"root\""}) {
      INFO(header);
      REQUIRE(instance.Handle({.uri = kSessions, .authorization = header}).status == 401);
    }
    const std::string lower =
        "basic " + absl::Base64Escape(std::string(service.user) + ':' + kPasswordOfAll);
    REQUIRE(instance.Handle({.uri = kSessions, .authorization = lower}).status == 200);
    REQUIRE(
        instance.Handle({.uri = kSessions, .authorization = lower, .auth_token = "bad"}).status ==
        401);
    REQUIRE(instance.Reset().ok());
    REQUIRE(ByToken(instance, Method::kGet, kSessions, token).status == 401);
  }
}

TEST_CASE("A user may do what the privileges of their role allow and no more") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    const std::string own = MakeAccount(instance, "anna", "secret-1234", "ReadOnly");
    Instance judged(WorldOf(service.capture), Required());
    const auto admin = [&](Method method, const std::string& uri, const Json& body) {
      return ByBasic(judged, method, uri, service.user, kPasswordOfAll, body);
    };
    const auto anna = [&](Method method, const std::string& uri, const Json& body = nullptr) {
      return ByBasic(judged, method, uri, "anna", "secret-1234", body);
    };
    Json account = {{"UserName", "anna"}, {"Password", "secret-1234"}, {"RoleId", "ReadOnly"}};
    if (own == kEmptySlot) account["Enabled"] = true;
    REQUIRE(admin(own == kEmptySlot ? Method::kPatch : Method::kPost,
                  own == kEmptySlot ? own : kAccounts, account)
                .status < 300);
    const std::string system = LandmarksOf(judged.world()).system;
    REQUIRE(anna(Method::kGet, system).status == 200);
    REQUIRE(anna(Method::kGet, own).status == 200);
    const Json target = At(judged, system, "/Actions/#ComputerSystem.Reset/target");
    for (const Response& refused :
         {anna(Method::kGet, service.account), anna(Method::kPatch, system, {{"AssetTag", "x"}}),
          anna(Method::kPatch, service.account, {{"Password", "stolen-1234"}}),
          anna(Method::kPatch, own, {{"RoleId", "Administrator"}}),
          anna(Method::kPatch, own, {{"Password", "stolen-1234"}, {"RoleId", "Administrator"}}),
          anna(Method::kPatch, kAccountService, {{"ServiceEnabled", false}}),
          anna(Method::kPost, target.get<std::string>(), {{"ResetType", "ForceOff"}}),
          anna(Method::kPost, kRoles, {{"RoleId", "King"}})}) {
      REQUIRE(refused.status == 403);
      REQUIRE(Messages(refused) == Names{"InsufficientPrivilege"});
    }
    const Response expanded = anna(Method::kGet, std::string(kAccounts) + "?$expand=.");
    for (const Json& member : expanded.json->at("Members")) {
      REQUIRE((member.size() == 1) == (redfish::LinkTarget(member) != own));
    }
    REQUIRE(anna(Method::kPatch, own, {{"Password", "secret-5678"}}).status == 200);
    REQUIRE(anna(Method::kGet, own).status == 401);
    REQUIRE(admin(Method::kPatch, own, {{"RoleId", "Operator"}}).status == 200);
    REQUIRE(ByBasic(judged, Method::kPost, target.get<std::string>(), "anna", "secret-5678",
                    {{"ResetType", "ForceOff"}})
                .status < 300);
  }
}

TEST_CASE("A user ends their own session, and an administrator any") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture), Required());
    const Response admin = LogIn(instance, service.user, kPasswordOfAll);
    Json account = {{"UserName", "anna"}, {"Password", "secret-1234"}, {"RoleId", "ReadOnly"}};
    const bool has_slots = instance.Find(kEmptySlot) != nullptr;
    if (has_slots) account["Enabled"] = true;
    REQUIRE(ByToken(instance, has_slots ? Method::kPatch : Method::kPost,
                    has_slots ? kEmptySlot : kAccounts, TokenOf(admin), account)
                .status < 300);
    const Response first = LogIn(instance, "anna", "secret-1234");
    const Response second = LogIn(instance, "anna", "secret-1234");
    const std::string token = TokenOf(first);
    REQUIRE(ByToken(instance, Method::kDelete, admin.location, token).status == 403);
    REQUIRE(ByToken(instance, Method::kDelete, first.location, token).status == 200);
    REQUIRE(ByToken(instance, Method::kGet, kSessions, token).status == 401);
    REQUIRE(ByToken(instance, Method::kDelete, second.location, TokenOf(admin)).status == 200);
    REQUIRE(ByToken(instance, Method::kGet, kSessions, TokenOf(second)).status == 401);
  }
}

TEST_CASE("A user whose password must be changed can see themselves, log out and change it") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture), Required());
    REQUIRE(instance
                .Reset(std::vector<redfish::StartOperation>{
                    {service.account, "/PasswordChangeRequired", true}})
                .ok());
    const Response login = LogIn(instance, service.user, kPasswordOfAll);
    const std::string token = TokenOf(login);
    for (const char* seen : {kRoot, service.account, login.location.c_str()}) {
      REQUIRE(ByToken(instance, Method::kGet, seen, token).status == 200);
    }
    for (const Response& refused :
         {ByToken(instance, Method::kGet, kSessions, token),
          ByToken(instance, Method::kPatch, kSessionService, token, {{"SessionTimeout", 60}}),
          ByToken(instance, Method::kPatch, service.account, token,
                  {{"Password", "secret-1234"}, {"RoleId", "Operator"}}),
          ByToken(instance, Method::kPatch, service.account, token,
                  {{"PasswordChangeRequired", false}})}) {
      REQUIRE(refused.status == 403);
      REQUIRE(Messages(refused) == Names{"PasswordChangeRequired"});
      REQUIRE(refused.json->at("error").at("@Message.ExtendedInfo")[0].at("MessageArgs")[0] ==
              service.account);
    }
    REQUIRE(ByToken(instance, Method::kPatch, service.account, token, {{"Password", "secret-1234"}})
                .status == 200);
    REQUIRE(ByToken(instance, Method::kGet, kSessions, token).status == 200);
  }
}

TEST_CASE("Without authentication nobody is refused, and a token still says who changed what") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    const std::string token = TokenOf(LogIn(instance, service.user, kPasswordOfAll));
    const Json change = {{"SessionTimeout", 60}};
    REQUIRE(ByToken(instance, Method::kPatch, kSessionService, "unknown", change).status == 200);
    REQUIRE(ByBasic(instance, Method::kGet, kSessions, "nobody", "x").status == 200);
    REQUIRE(Count(instance, kChangeRecord) == 0);
    REQUIRE(ByToken(instance, Method::kPatch, kSessionService, token, change).status == 200);
    const redfish::HistoryRecord& record = instance.history().back();
    REQUIRE(record.kind == kChangeRecord);
    REQUIRE(record.uri == kSessionService);
    REQUIRE(record.detail ==
            Json{{"UserName", service.user}, {"Method", "PATCH"}, {"Authentication", "Session"}});
  }
}

}  // namespace shoal::mockserver
