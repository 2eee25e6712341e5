// SPDX-License-Identifier: Apache-2.0
#include "mockserver/access/roles.h"

#include <catch2/catch.hpp>

#include "tests/mockserver/service/services.h"

namespace shoal::mockserver {
namespace {

const std::string kAuditor = std::string(kRoles) + "/Auditor";

Json Auditor() { return {{"RoleId", "Auditor"}, {"AssignedPrivileges", {"Login"}}}; }

}  // namespace

TEST_CASE("Predefined roles stay as they are") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    for (const char* name : {"Administrator", "Operator", "ReadOnly"}) {
      const std::string uri = std::string(kRoles) + '/' + name;
      const Json change = {{"AssignedPrivileges", {"Login", "ConfigureUsers"}}};
      for (const Response& refused : {Patch(instance, uri, change), Delete(instance, uri)}) {
        REQUIRE(refused.status == 403);
        REQUIRE(Messages(refused) == Names{"RestrictedRole"});
      }
    }
    REQUIRE(instance.changed_resources() == 0);
  }
}

TEST_CASE("A role of a client's own lives from POST to DELETE, and not while an account has it") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    const Json before = *instance.Find(kRoles);
    const Response made = Post(instance, kRoles, Auditor());
    REQUIRE(made.status == 201);
    REQUIRE(made.location == kAuditor);
    REQUIRE(made.json->at("Id") == "Auditor");
    REQUIRE(made.json->at("IsPredefined") == false);
    REQUIRE(made.json->at("AssignedPrivileges") == Json::array({"Login"}));
    const Response twice = Post(instance, kRoles, Auditor());
    REQUIRE(twice.status == 409);
    REQUIRE(Messages(twice) == Names{"ResourceAlreadyExists"});
    REQUIRE(
        Patch(instance, kAuditor, {{"AssignedPrivileges", {"Login", "ConfigureSelf"}}}).status ==
        200);
    REQUIRE(At(instance, kAuditor, "/AssignedPrivileges").size() == 2);
    const std::string account = MakeAccount(instance, "anna", "secret-1234", "Auditor");
    const Response used = Delete(instance, kAuditor);
    REQUIRE(used.status == 409);
    REQUIRE(Messages(used) == Names{"ResourceInUse"});
    REQUIRE(Patch(instance, account, {{"RoleId", "ReadOnly"}}).status == 200);
    REQUIRE(Delete(instance, kAuditor).status == 200);
    REQUIRE(At(instance, kRoles, "/Members") == before.at("Members"));
    REQUIRE(Post(instance, kRoles, Auditor()).status == 201);
    REQUIRE(instance.Reset().ok());
    REQUIRE(instance.Find(kAuditor) == nullptr);
  }
}

TEST_CASE("A role without a name for it, or with privileges that are none, is refused") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    REQUIRE(Messages(Post(instance, kRoles, Json::object())) == Names{"PropertyMissing"});
    REQUIRE(Messages(Post(instance, kRoles, {{"RoleId", 7}})) == Names{"PropertyValueTypeError"});
    for (const char* name : {"", "a/b", "..", "a b"}) {
      REQUIRE(Messages(Post(instance, kRoles, {{"RoleId", name}})) ==
              Names{"PropertyValueFormatError"});
    }
    Json body = Auditor();
    body["AssignedPrivileges"] = {"Everything"};
    REQUIRE(Post(instance, kRoles, body).status == 400);
    REQUIRE(instance.changed_resources() == 0);
  }
}

}  // namespace shoal::mockserver
