// SPDX-License-Identifier: Apache-2.0
#include "mockserver/access/sessions.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "tests/mockserver/service/services.h"

namespace shoal::mockserver {

using namespace std::chrono_literals;

TEST_CASE("A session lives from login to logout, and Reset forgets it") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    const Json before = *instance.Find(kSessions);
    const Response login = LogIn(instance, service.user, kPasswordOfAll);
    REQUIRE(login.status == 201);
    REQUIRE(login.location.starts_with(std::string(kSessions) + '/'));
    const std::string token = TokenOf(login);
    REQUIRE(token.size() >= 32);
    REQUIRE(token.find_first_not_of("0123456789abcdef") == std::string::npos);
    REQUIRE(login.json->at("UserName") == service.user);
    REQUIRE(login.json->value("Password", Json()) == Json());
    REQUIRE(login.json->at("@odata.id") == login.location);
    REQUIRE(login.location.ends_with('/' + login.json->at("Id").get<std::string>()));
    REQUIRE(*Get(instance, login.location).json == *login.json);
    REQUIRE(At(instance, kSessions, "/Members").size() == before.at("Members").size() + 1);
    REQUIRE(At(instance, kSessions, "/Members@odata.count") == before.at("Members").size() + 1);
    REQUIRE(Count(instance, kLoginRecord) == 1);
    REQUIRE(instance.history().back().uri == service.account);

    REQUIRE(Delete(instance, login.location).status == 200);
    REQUIRE(Get(instance, login.location).status == 404);
    REQUIRE(At(instance, kSessions, "/Members") == before.at("Members"));
    REQUIRE(instance.history().back().kind == kLogoutRecord);

    const Response second = LogIn(instance, service.user, kPasswordOfAll);
    REQUIRE(TokenOf(second) != token);
    REQUIRE(second.location != login.location);
    REQUIRE(instance.Reset().ok());
    REQUIRE(*instance.Find(kSessions) == before);
    REQUIRE(Get(instance, second.location).status == 404);
  }
}

TEST_CASE("A captured session can be ended") {
  for (const char* capture : {"dmtf-rackmount1", "hpe-dl380a-gen12", "dell-r750"}) {
    INFO(capture);
    Instance instance(WorldOf(capture));
    const std::string uri = redfish::FirstLinkTarget(&instance.Find(kSessions)->at("Members"));
    REQUIRE(Delete(instance, uri).status == 200);
    REQUIRE(Get(instance, uri).status == 404);
    REQUIRE(instance.history().back().uri == uri);
  }
}

TEST_CASE("A login that lacks something or is wrong makes no session and repeats no password") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    const Json before = *instance.Find(kSessions);
    const Response nothing = Post(instance, kSessions, Json::object());
    REQUIRE(nothing.status == 400);
    REQUIRE(Messages(nothing) == Names{"PropertyMissing", "PropertyMissing"});
    const Response number =
        Post(instance, kSessions, {{"UserName", service.user}, {"Password", 31415926}});
    REQUIRE(number.status == 400);
    REQUIRE(Messages(number) == Names{"PropertyValueTypeError"});
    REQUIRE(number.body->find("31415926") == std::string::npos);
    REQUIRE(Messages(Post(instance, kSessions,
                          {{"UserName", service.user}, {"Password", ""}, {"Bogus", 1}})) ==
            Names{"PropertyUnknown"});
    for (const char* user : {service.user, "nobody", ""}) {
      const Response wrong = LogIn(instance, user, "hunter-2222");
      REQUIRE(wrong.status == 401);
      REQUIRE(Messages(wrong) == Names{"ResourceAtUriUnauthorized"});
      REQUIRE(wrong.location.empty());
      REQUIRE(TokenOf(wrong).empty());
      REQUIRE(wrong.body->find("hunter-2222") == std::string::npos);
    }
    REQUIRE(Count(instance, kLoginFailedRecord) == 3);
    for (const auto& record : instance.history()) {
      REQUIRE(record.detail.dump().find("hunter") == std::string::npos);
    }
    REQUIRE(*instance.Find(kSessions) == before);
  }
}

TEST_CASE("A POST to the Members of a collection is one to the collection") {
  Instance instance(WorldOf("openbmc-stock"));
  const Response login = Post(instance, std::string(kSessions) + "/Members",
                              {{"UserName", "root"}, {"Password", kPasswordOfAll}});
  REQUIRE(login.status == 201);
  REQUIRE(login.location.starts_with(std::string(kSessions) + '/'));
  REQUIRE(Get(instance, std::string(kSessions) + "/Members").status == 404);
  REQUIRE(Post(instance, "/redfish/v1/Systems/Members", Json::object()).status == 404);
}

TEST_CASE("A session ends with its idle time since its last use") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture), {.authentication = Authentication::kRequired});
    const std::chrono::seconds idle(At(instance, kSessionService, "/SessionTimeout").get<int>());
    const Response login = LogIn(instance, service.user, kPasswordOfAll);
    const std::string token = TokenOf(login);
    for (int i = 0; i < 3; ++i) {
      instance.Advance(idle - 1s);
      REQUIRE(ByToken(instance, Method::kGet, kSessions, token).status == 200);
    }
    instance.Advance(idle - 1s);
    REQUIRE(instance.Find(login.location) != nullptr);
    instance.Advance(1s);
    REQUIRE(instance.Find(login.location) == nullptr);
    const Response late = ByToken(instance, Method::kGet, kSessions, token);
    REQUIRE(late.status == 401);
    REQUIRE(Messages(late) == Names{"NoValidSession"});
    REQUIRE(instance.history().back().detail.at("Reason") == "Expired");
  }
}

TEST_CASE("A session ends with its absolute time, however much it is used") {
  Instance instance(WorldOf("dmtf-rackmount1"), {.authentication = Authentication::kRequired});
  const std::string token = TokenOf(LogIn(instance, "Administrator", kPasswordOfAll));
  for (int i = 0; i < 179; ++i) {
    instance.Advance(20s);
    REQUIRE(ByToken(instance, Method::kGet, kSessions, token).status == 200);
  }
  instance.Advance(20s);
  REQUIRE(ByToken(instance, Method::kGet, kSessions, token).status == 401);
}

TEST_CASE("Past the limit of sessions a login is refused until one ends") {
  Instance instance(WorldOf("dell-r750"), {.max_sessions = 5});
  const std::string first = LogIn(instance, "root", kPasswordOfAll).location;
  REQUIRE(LogIn(instance, "root", kPasswordOfAll).status == 201);
  const Response refused = LogIn(instance, "root", kPasswordOfAll);
  REQUIRE(refused.status == 503);
  REQUIRE(Messages(refused) == Names{"SessionLimitExceeded"});
  REQUIRE(!refused.Header("Retry-After").empty());
  REQUIRE(Delete(instance, first).status == 200);
  REQUIRE(LogIn(instance, "root", kPasswordOfAll).status == 201);
}

TEST_CASE("A disabled session service takes no login and no logout") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture), {.authentication = Authentication::kRequired});
    const Response login = LogIn(instance, service.user, kPasswordOfAll);
    const std::string token = TokenOf(login);
    REQUIRE(ByToken(instance, Method::kPatch, kSessionService, token, {{"ServiceEnabled", false}})
                .status == 200);
    const Response refused = LogIn(instance, service.user, kPasswordOfAll);
    REQUIRE(refused.status == 503);
    REQUIRE(Messages(refused) == Names{"ServiceDisabled"});
    REQUIRE(ByToken(instance, Method::kDelete, login.location, token).status == 503);
    REQUIRE(ByToken(instance, Method::kGet, kSessions, token).status == 200);
    REQUIRE(ByBasic(instance, Method::kGet, kSessions, service.user, kPasswordOfAll).status == 200);
  }
}

TEST_CASE("The same seed gives the same tokens, and no two sessions share one") {
  std::set<std::string> tokens;
  for (int run = 0; run < 2; ++run) {
    Instance instance(WorldOf("openbmc-stock"), {.seed = 4});
    for (int i = 0; i < 10; ++i) {
      tokens.insert(TokenOf(LogIn(instance, "root", kPasswordOfAll)));
    }
    REQUIRE(tokens.size() == 10);
  }
}

TEST_CASE("Logins and logouts are no side effects") {
  Instance instance(WorldOf("dell-r750"));
  REQUIRE(instance.Reset({}, WatchFor({{"happened", {{"kind", "login"}}}})).ok());
  const Response login = LogIn(instance, "root", kPasswordOfAll);
  REQUIRE(instance.Evaluate().satisfied);
  REQUIRE(Delete(instance, "/redfish/v1/SessionService/Sessions/274").status == 200);
  REQUIRE(instance.Evaluate().collateral == 0);
}

}  // namespace shoal::mockserver
