// SPDX-License-Identifier: Apache-2.0
#include "mockserver/access/credentials.h"

#include <catch2/catch.hpp>

#include "tests/mockserver/service/services.h"

namespace shoal::mockserver {

using namespace std::chrono_literals;

namespace {

void SetLockout(Instance& instance, int threshold, int duration, int window) {
  REQUIRE(instance
              .Reset(std::vector<redfish::StartOperation>{
                  {kAccountService, "/AccountLockoutThreshold", threshold},
                  {kAccountService, "/AccountLockoutDuration", duration},
                  {kAccountService, "/AccountLockoutCounterResetAfter", window}})
              .ok());
}

void Fail(Instance& instance, const std::string& user, int times) {
  for (int i = 0; i < times; ++i) {
    REQUIRE(LogIn(instance, user, "wrong-password").status == 401);
  }
}

}  // namespace

TEST_CASE("Wrong passwords lock an account for a while and end its sessions") {
  for (const Service& service : kServices) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    SetLockout(instance, 3, 60, 30);
    const Response live = LogIn(instance, service.user, kPasswordOfAll);
    Fail(instance, service.user, 2);
    REQUIRE(instance.Find(live.location) != nullptr);
    Fail(instance, service.user, 1);
    REQUIRE(instance.Find(live.location) == nullptr);
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 401);
    const Json locked = At(instance, service.account, "/Locked");
    REQUIRE((locked.is_null() || locked == true));
    instance.Advance(59s);
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 401);
    instance.Advance(1s);
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 201);
    REQUIRE(At(instance, service.account, "/Locked") != true);
  }
}

TEST_CASE("Wrong passwords far apart, or with a login in between, do not lock") {
  Instance instance(WorldOf("dell-r750"));
  SetLockout(instance, 3, 60, 30);
  Fail(instance, "root", 2);
  instance.Advance(30s);
  Fail(instance, "root", 2);
  REQUIRE(LogIn(instance, "root", kPasswordOfAll).status == 201);
  Fail(instance, "root", 2);
  REQUIRE(LogIn(instance, "root", kPasswordOfAll).status == 201);
}

TEST_CASE("No threshold, or no duration, locks nobody") {
  for (const auto& [threshold, duration] : {std::pair(0, 60), std::pair(3, 0)}) {
    Instance instance(WorldOf("openbmc-stock"));
    SetLockout(instance, threshold, duration, 0);
    Fail(instance, "root", 10);
    REQUIRE(LogIn(instance, "root", kPasswordOfAll).status == 201);
  }
}

TEST_CASE("An account that counts for ever stays locked until Locked is cleared") {
  for (const Service& service : {kServices[1]}) {
    Instance instance(WorldOf(service.capture));
    REQUIRE(instance
                .Reset(std::vector<redfish::StartOperation>{
                    {kAccountService, "/AccountLockoutCounterResetEnabled", false}})
                .ok());
    for (int i = 0; i < 5; ++i) {
      Fail(instance, service.user, 1);
      instance.Advance(1h);
    }
    instance.Advance(1000h);
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 401);
    REQUIRE(Patch(instance, service.account, {{"Locked", false}}).status == 200);
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 201);
  }
}

TEST_CASE("Locked can be cleared and not set, also where values are listed as texts") {
  for (const Service& service : {kServices[0], kServices[1], kServices[3]}) {
    INFO(service.capture);
    Instance instance(WorldOf(service.capture));
    SetLockout(instance, 2, 600, 600);
    const Response set = Patch(instance, service.account, {{"Locked", true}});
    REQUIRE(set.status == 400);
    REQUIRE(Messages(set) == Names{"PropertyValueNotInList"});
    Fail(instance, service.user, 2);
    REQUIRE(At(instance, service.account, "/Locked") == true);
    REQUIRE(Patch(instance, service.account, {{"Locked", false}}).status == 200);
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 201);
    REQUIRE(instance.Reset().ok());
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 201);
  }
}

TEST_CASE("Captured accounts log in with the password that the instance was given") {
  for (const Service& service : kServices) {
    Instance instance(WorldOf(service.capture), {.account_password = "other"});
    REQUIRE(LogIn(instance, service.user, kPasswordOfAll).status == 401);
    REQUIRE(LogIn(instance, service.user, "othe").status == 401);
    REQUIRE(LogIn(instance, service.user, "otherother").status == 401);
    REQUIRE(LogIn(instance, service.user, "other").status == 201);
    REQUIRE(LogIn(instance, "admin", "other").status == 401);
  }
}

}  // namespace shoal::mockserver
