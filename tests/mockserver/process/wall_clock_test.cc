// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/wall_clock.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/doubles/manual_clock.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

InstanceTableOptions WithClock(ClockKind clock) {
  return {.instance = {.power_transient = std::chrono::seconds(2), .clock = clock}};
}

// Turns the default instance's system off and returns its power state right after.
Json TurnOff(InstanceTable& table) {
  const auto slot = table.Default();
  const runtime::MutexLock lock(slot->mutex);
  REQUIRE(ResetOf(slot->instance, kOpenBmcSystem, "GracefulShutdown").status == 200);
  return At(slot->instance, kOpenBmcSystem, "/PowerState");
}

Json PowerState(InstanceTable& table) {
  const auto slot = table.Default();
  const runtime::MutexLock lock(slot->mutex);
  return At(slot->instance, kOpenBmcSystem, "/PowerState");
}

void PowerOn(InstanceTable& table) {
  const auto slot = table.Default();
  const runtime::MutexLock lock(slot->mutex);
  ResetOf(slot->instance, kOpenBmcSystem, "On");
  slot->instance.Advance(std::chrono::minutes(1));
}

}  // namespace

TEST_CASE("What a real clock completes is complete though nobody asks") {
  doubles::ManualClock clock;
  runtime::Metrics metrics;
  const auto table =
      InstanceTable::Create({WorldOf("openbmc-stock")}, WithClock(ClockKind::kReal), clock).value();
  EventSender sender(metrics);
  PowerOn(*table);
  REQUIRE(TurnOff(*table) == "PoweringOff");
  const WallClock wall_clock(*table, sender);
  while (PowerState(*table) != "Off") {
    clock.Advance(std::chrono::milliseconds(100));
    std::this_thread::yield();
  }
}

TEST_CASE("The time of day does not move a virtual clock") {
  doubles::ManualClock clock;
  const auto table =
      InstanceTable::Create({WorldOf("openbmc-stock")}, WithClock(ClockKind::kVirtual), clock)
          .value();
  PowerOn(*table);
  TurnOff(*table);
  clock.Advance(std::chrono::hours(1));
  REQUIRE(table->RealClocks().empty());
  const auto slot = table->Default();
  const runtime::MutexLock lock(slot->mutex);
  slot->CatchUp(clock.Now());
  REQUIRE(At(slot->instance, kOpenBmcSystem, "/PowerState") == "PoweringOff");
}

TEST_CASE("A real clock goes on from where the control API has moved it") {
  doubles::ManualClock clock;
  const auto table =
      InstanceTable::Create({WorldOf("openbmc-stock")}, WithClock(ClockKind::kReal), clock).value();
  const auto slot = table->Default();
  const runtime::MutexLock lock(slot->mutex);
  slot->instance.Advance(std::chrono::hours(1));
  clock.Advance(std::chrono::seconds(5));
  slot->CatchUp(clock.Now());
  slot->CatchUp(clock.Now());
  REQUIRE(slot->instance.now() == std::chrono::seconds(3605));
}

TEST_CASE("Without a seed two instances with real clocks draw different tokens") {
  doubles::ManualClock clock;
  const auto table =
      InstanceTable::Create({WorldOf("openbmc-stock")}, WithClock(ClockKind::kReal), clock).value();
  const auto token = [&](const std::shared_ptr<InstanceTable::Slot>& slot) {
    const runtime::MutexLock lock(slot->mutex);
    const Response login = Post(slot->instance, "/redfish/v1/SessionService/Sessions",
                                {{"UserName", "root"}, {"Password", "shoal-password"}});
    REQUIRE(login.status == 201);
    return login.Header("X-Auth-Token");
  };
  const std::string first = token(table->Default());
  clock.Advance(std::chrono::seconds(1));
  const std::string id = table->Make("", "", {.clock = ClockKind::kReal}).value();
  REQUIRE(token(table->Find(id)) != first);
}

}  // namespace shoal::mockserver
