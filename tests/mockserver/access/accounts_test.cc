// SPDX-License-Identifier: Apache-2.0
#include "mockserver/access/accounts.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "mockserver/access/credentials.h"
#include "tests/mockserver/service/services.h"

namespace shoal::mockserver {
namespace {

// The captures whose accounts are created by POST.
constexpr Service kPosting[] = {kServices[0], kServices[1], kServices[2]};

Json NewAccount(const std::string& user) {
  return {{"UserName", user}, {"Password", "secret-1234"}, {"RoleId", "Operator"}};
}

}  // namespace

TEST_CASE("An account lives from POST to DELETE, looks like the others, and Reset forgets it") {
  for (const Service& service : kPosting) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    const Json before = *instance.Find(kAccounts);
    const Response made = Post(instance, kAccounts, NewAccount("anna"));
    REQUIRE(made.status == 201);
    const Json& account = *made.json;
    REQUIRE(account.at("@odata.id") == made.location);
    REQUIRE(account.at("@odata.type") == At(instance, service.account, "/@odata.type"));
    REQUIRE(made.location.ends_with('/' + account.at("Id").get<std::string>()));
    REQUIRE(account.at("UserName") == "anna");
    REQUIRE(account.at("RoleId") == "Operator");
    REQUIRE(account.at("Enabled") == true);
    REQUIRE(account.at("PasswordChangeRequired") == false);
    REQUIRE(account.at("Password") == nullptr);
    REQUIRE(account.at("@odata.etag") == made.etag);
    REQUIRE(redfish::LinkTarget(account.at("Links").at("Role")) ==
            std::string(kRoles) + "/Operator");
    REQUIRE(account.contains("Locked") == instance.Find(service.account)->contains("Locked"));
    REQUIRE(made.body->find("secret-1234") == std::string::npos);
    REQUIRE(LogIn(instance, "anna", "secret-1234").status == 201);
    REQUIRE(LogIn(instance, "anna", kPasswordOfAll).status == 401);

    REQUIRE(Delete(instance, made.location).status == 200);
    REQUIRE(Get(instance, made.location).status == 404);
    REQUIRE(At(instance, kAccounts, "/Members") == before.at("Members"));
    REQUIRE(LogIn(instance, "anna", "secret-1234").status == 401);

    REQUIRE(Post(instance, kAccounts, NewAccount("anna")).status == 201);
    REQUIRE(instance.Reset().ok());
    REQUIRE(*instance.Find(kAccounts) == before);
    REQUIRE(LogIn(instance, "anna", "secret-1234").status == 401);
  }
}

TEST_CASE("A new account may use what the others may and Redfish, or what it was made for") {
  for (const Service& service : kPosting) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    Json types = instance.Find(service.account)->value("AccountTypes", Json::array());
    const auto redfish = std::find(types.begin(), types.end(), "Redfish");
    if (redfish == types.end()) types.push_back("Redfish");
    REQUIRE(Post(instance, kAccounts, NewAccount("anna")).json->at("AccountTypes") == types);
    Json asked = NewAccount("bert");
    asked["AccountTypes"] = {"Redfish", "KVMIP"};
    REQUIRE(Post(instance, kAccounts, asked).json->at("AccountTypes") == asked["AccountTypes"]);
  }
}

TEST_CASE("Where accounts are named by their user the URI is") {
  Instance instance(WorldOf("openbmc-stock"));
  REQUIRE(Post(instance, kAccounts, NewAccount("anna")).location ==
          std::string(kAccounts) + "/anna");
  REQUIRE(Messages(Post(instance, kAccounts, NewAccount("a/../b"))) ==
          Names{"PropertyValueFormatError"});
}

TEST_CASE("A new account that lacks something or is wrong is refused and not made") {
  for (const Service& service : kPosting) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    const auto refused = [&](const std::string& name, const Json& value, int status,
                             const Names& messages) {
      INFO(name << " " << value.dump());
      Json body = NewAccount("anna");
      if (value.is_discarded()) {
        body.erase(name);
      } else {
        body[name] = value;
      }
      const Response response = Post(instance, kAccounts, body);
      REQUIRE(response.status == status);
      REQUIRE(Messages(response) == messages);
      REQUIRE(response.body->find("secret") == std::string::npos);
    };
    const Json absent(Json::value_t::discarded);
    for (const char* name : {"UserName", "Password", "RoleId"}) {
      refused(name, absent, 400, {"PropertyMissing"});
      refused(name, 5, 400, {"PropertyValueTypeError"});
    }
    refused("Password", Json{{"secret", 1}}, 400, {"PropertyValueTypeError"});
    refused("Password", "secret1", 400, {"PasswordIncorrectLength"});
    refused("RoleId", "King", 400, {"PropertyValueNotInList"});
    refused("UserName", service.user, 409, {"ResourceAlreadyExists"});
    refused("UserName", "", 400, {"PropertyValueFormatError"});
    refused("UserName", "a:b", 400, {"PropertyValueFormatError"});
    refused("Locked", true, 400, {"PropertyValueNotInList"});
    refused("Bogus", 1, 400, {"PropertyUnknown"});
    REQUIRE(instance.changed_resources() == 0);
  }
  Instance instance(WorldOf("openbmc-stock"));
  Json body = NewAccount("anna");
  body["Password"] = std::string(21, 'x');
  REQUIRE(Messages(Post(instance, kAccounts, body)) == Names{"PasswordIncorrectLength"});
}

TEST_CASE("Slots are filled and emptied by PATCH and take no POST and no DELETE") {
  Instance instance(WorldOf("dell-r750"));
  const Json empty = *instance.Find(kEmptySlot);
  const Response post = Post(instance, kAccounts, NewAccount("anna"));
  REQUIRE(post.status == 405);
  REQUIRE(post.allow == "GET, HEAD");
  REQUIRE(Get(instance, kAccounts).allow == "GET, HEAD");
  REQUIRE(Delete(instance, kEmptySlot).status == 405);
  REQUIRE(Get(instance, kEmptySlot).allow == "GET, HEAD, PATCH");

  for (const Json& nameless : {Json{{"Enabled", true}}, Json{{"Password", "secret-1234"}}}) {
    const Response refused = Patch(instance, kEmptySlot, nameless);
    REQUIRE(refused.status == 400);
    REQUIRE(Messages(refused) == Names{"PropertyValueConflict"});
  }
  REQUIRE(*instance.Find(kEmptySlot) == empty);

  const Response filled = Patch(instance, kEmptySlot, NewAccount("anna"));
  REQUIRE(filled.status == 200);
  REQUIRE(filled.json->at("UserName") == "anna");
  REQUIRE(filled.json->at("Password") == nullptr);
  REQUIRE(filled.etag == Get(instance, kEmptySlot).etag);
  REQUIRE(LogIn(instance, "anna", "secret-1234").status == 401);
  REQUIRE(Patch(instance, kEmptySlot, {{"Enabled", true}}).status == 200);
  REQUIRE(At(instance, kEmptySlot, "/Links/Role/@odata.id") == std::string(kRoles) + "/Operator");
  const Response login = LogIn(instance, "anna", "secret-1234");
  REQUIRE(login.status == 201);
  REQUIRE(Messages(Patch(instance, "/redfish/v1/AccountService/Accounts/6",
                         {{"UserName", "anna"}})) == Names{"ResourceAlreadyExists"});

  REQUIRE(Patch(instance, kEmptySlot, {{"UserName", ""}, {"Enabled", false}}).status == 200);
  REQUIRE(*instance.Find(kEmptySlot) == empty);
  REQUIRE(instance.Find(login.location) == nullptr);
  REQUIRE(Patch(instance, kEmptySlot, {{"UserName", "anna"}}).status == 200);
  REQUIRE(Patch(instance, kEmptySlot, {{"Enabled", true}}).status == 200);
  for (const char* password : {"secret-1234", kPasswordOfAll, ""}) {
    REQUIRE(LogIn(instance, "anna", password).status == 401);
  }
}

TEST_CASE("A password is changed by PATCH, never shown, and the old one is refused") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    const Response changed = Patch(instance, service.account, {{"Password", "secret-1234"}});
    REQUIRE(changed.status == 200);
    REQUIRE(changed.json->at("@odata.id") == service.account);
    REQUIRE(*changed.json == *instance.Find(service.account));
    REQUIRE(At(instance, service.account, "/Password") == nullptr);
    REQUIRE(changed.body->find("secret-1234") == std::string::npos);
    REQUIRE(instance.history().back().kind == kPasswordRecord);
    REQUIRE(instance.history().back().detail == Json{{"UserName", service.user}});
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 401);
    REQUIRE(LogIn(instance, service.user, "secret-1234").status == 201);
    const Response mixed =
        Patch(instance, service.account, {{"Password", "secret-5678"}, {"BogusProp", 1}});
    REQUIRE(mixed.status == 200);
    REQUIRE(mixed.json->contains("BogusProp@Message.ExtendedInfo"));
    REQUIRE(LogIn(instance, service.user, "secret-5678").status == 201);
    for (const Json& wrong : {Json(nullptr), Json(31415926), Json(""), Json(Json::array())}) {
      const Response refused = Patch(instance, service.account, {{"Password", wrong}});
      REQUIRE(refused.status == 400);
      REQUIRE(refused.body->find("31415926") == std::string::npos);
    }
    REQUIRE(LogIn(instance, service.user, "secret-5678").status == 201);
    REQUIRE(instance.Reset().ok());
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 201);
  }
}

TEST_CASE("The role's link follows the role, and a role that is not there is refused") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    REQUIRE(Patch(instance, service.account, {{"RoleId", "ReadOnly"}}).status == 200);
    REQUIRE(At(instance, service.account, "/Links/Role/@odata.id") ==
            std::string(kRoles) + "/ReadOnly");
    const Response refused = Patch(instance, service.account, {{"RoleId", "King"}});
    REQUIRE(refused.status == 400);
    REQUIRE(Messages(refused) == Names{"PropertyValueNotInList"});
    REQUIRE(At(instance, service.account, "/RoleId") == "ReadOnly");
  }
}

TEST_CASE("An account that is disabled, renamed or removed ends its sessions") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    for (const Json& change : {Json{{"Enabled", false}}, Json{{"UserName", "berta"}}, Json()}) {
      Instance instance(WorldOf(service.capture));
      const std::string account = MakeAccount(instance, "anna", "secret-1234", "Operator");
      const Response live = LogIn(instance, "anna", "secret-1234");
      const Response other = LogIn(instance, service.user, kPasswordOfAll);
      const bool is_slot = account == kEmptySlot;
      const Json patch = change.is_null() ? Json{{"UserName", ""}} : change;
      const Response done = change.is_null() && !is_slot ? Delete(instance, account)
                                                         : Patch(instance, account, patch);
      REQUIRE(done.status == 200);
      REQUIRE(instance.Find(live.location) == nullptr);
      REQUIRE(instance.Find(other.location) != nullptr);
      REQUIRE(instance.history().back().detail.at("Reason") == "AccountChanged");
      const bool is_renamed = change.is_object() && change.contains("UserName");
      REQUIRE(LogIn(instance, "anna", "secret-1234").status == 401);
      REQUIRE(LogIn(instance, "berta", "secret-1234").status == (is_renamed ? 201 : 401));
    }
  }
}

TEST_CASE("The only administrator cannot lock themselves out") {
  for (const Service& service : {kServices[0], kServices[1], kServices[2]}) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture), {.authentication = Authentication::kRequired});
    const auto as = [&](Method method, const std::string& uri, const Json& body) {
      return ByBasic(instance, method, uri, service.user, kPasswordOfAll, body);
    };
    for (const Json& change : {Json{{"Enabled", false}}, Json{{"RoleId", "Operator"}}}) {
      const Response refused = as(Method::kPatch, service.account, change);
      REQUIRE(refused.status == 400);
      REQUIRE(Messages(refused) == Names{"AccountNotModified"});
    }
    REQUIRE(as(Method::kDelete, service.account, nullptr).status == 403);
    Json second = NewAccount("anna");
    second["RoleId"] = "Administrator";
    REQUIRE(as(Method::kPost, kAccounts, second).status == 201);
    REQUIRE(as(Method::kDelete, service.account, nullptr).status == 200);
    REQUIRE(as(Method::kGet, kAccounts, nullptr).status == 401);
  }
}

TEST_CASE("A password that must be changed is told of at login, and changing it ends that") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    REQUIRE(instance
                .Reset(std::vector<redfish::StartOperation>{
                    {service.account, "/PasswordChangeRequired", true}})
                .ok());
    const Response login = LogIn(instance, service.user, kPasswordOfAll);
    REQUIRE(login.status == 201);
    REQUIRE(Messages(login) == Names{"PasswordChangeRequired"});
    REQUIRE(login.json->at("@Message.ExtendedInfo")[0].at("MessageArgs")[0] == service.account);
    REQUIRE(Messages(Patch(instance, service.account, {{"Password", kPasswordOfAll}})) ==
            Names{"PasswordReuseTooRecent"});
    const Response changed = Patch(instance, service.account, {{"Password", "secret-1234"}});
    REQUIRE(changed.json->at("PasswordChangeRequired") == false);
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 401);
    const redfish::Predicate goal =
        redfish::Predicate::Parse(
            {{"happened",
              {{"kind", "login"},
               {"uri", service.account},
               {"detail", {{"UserName", service.user}, {"PasswordChangeRequired", false}}}}}})
            .value();
    REQUIRE(!goal.Evaluate(instance));
    REQUIRE(!LogIn(instance, service.user, "secret-1234").json->contains("@Message.ExtendedInfo"));
    REQUIRE(goal.Evaluate(instance));
  }
}

TEST_CASE("ChangePassword changes a password for who knows their own") {
  const Service& service = kServices[1];
  Instance instance(WorldOf(service.capture), {.authentication = Authentication::kRequired});
  const std::string admin = TokenOf(LogIn(instance, service.user, kPasswordOfAll));
  const Response made = ByToken(instance, Method::kPost, kAccounts, admin,
                                {{"UserName", "anna"},
                                 {"Password", "secret-1234"},
                                 {"RoleId", "ReadOnly"},
                                 {"PasswordChangeRequired", true}});
  REQUIRE(made.status == 201);
  // A new account offers no action of its own, but a captured account does.
  const std::string target =
      std::string(service.account) + "/Actions/ManagerAccount.ChangePassword";
  const auto change = [&](const std::string& token, const std::string& own, const Json& password) {
    return ByToken(instance, Method::kPost, target, token,
                   {{"SessionAccountPassword", own}, {"NewPassword", password}});
  };
  REQUIRE(Messages(change(admin, "guessed-1234", "secret-5678")) ==
          Names{"ActionParameterValueError"});
  REQUIRE(Messages(change(admin, kPasswordOfAll, "")) == Names{"PasswordIncorrectLength"});
  REQUIRE(change(admin, kPasswordOfAll, 7).status == 400);
  const std::string reader = TokenOf(LogIn(instance, "anna", "secret-1234"));
  REQUIRE(change(reader, "secret-1234", "secret-5678").status == 403);
  REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 201);

  REQUIRE(change(admin, kPasswordOfAll, "secret-5678").status == 200);
  REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 401);
  REQUIRE(LogIn(instance, service.user, "secret-5678").status == 201);
}

TEST_CASE("A user whose password must be changed may do so by ChangePassword") {
  const Service& service = kServices[1];
  Instance instance(WorldOf(service.capture), {.authentication = Authentication::kRequired});
  REQUIRE(instance
              .Reset(std::vector<redfish::StartOperation>{
                  {service.account, "/PasswordChangeRequired", true}})
              .ok());
  const std::string token = TokenOf(LogIn(instance, service.user, kPasswordOfAll));
  REQUIRE(ByToken(instance, Method::kGet, kAccounts, token, nullptr).status == 403);
  REQUIRE(ByToken(instance, Method::kPost,
                  std::string(service.account) + "/Actions/ManagerAccount.ChangePassword", token,
                  {{"SessionAccountPassword", kPasswordOfAll}, {"NewPassword", "secret-1234"}})
              .status == 200);
  REQUIRE(At(instance, service.account, "/PasswordChangeRequired") == false);
  REQUIRE(ByToken(instance, Method::kGet, kAccounts, token, nullptr).status == 200);
}

TEST_CASE("A disabled account service changes no account and lets nobody in") {
  for (const Service& service : {kServices[0], kServices[1], kServices[3]}) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    REQUIRE(Patch(instance, kAccountService, {{"ServiceEnabled", false}}).status == 200);
    REQUIRE(Patch(instance, service.account, {{"RoleId", "Operator"}}).status == 503);
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 503);
    REQUIRE(At(instance, service.account, "/RoleId") == "Administrator");
  }
}

}  // namespace shoal::mockserver
