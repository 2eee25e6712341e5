// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/instance_table.h"

#include <catch2/catch.hpp>

#include "tests/doubles/manual_clock.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
TEST_CASE("Instances that nobody uses are deleted, the default one never") {
  doubles::ManualClock clock;
  auto table = InstanceTable::Create({WorldOf("openbmc-stock")},
                                     {.idle_limit = std::chrono::seconds(10)}, clock)
                   .value();
  const std::string used = table->Make("", "", {}).value();
  const std::string idle = table->Make("", "", {}).value();
  REQUIRE(used != idle);
  clock.Advance(std::chrono::seconds(9));
  REQUIRE(table->Find(used) != nullptr);
  clock.Advance(std::chrono::seconds(2));
  table->Sweep();
  REQUIRE(table->Find(idle) == nullptr);
  REQUIRE(table->Find(used) != nullptr);
  REQUIRE(table->size() == 1);
  REQUIRE(table->Find(kDefaultId) == table->Default());
}

TEST_CASE("A deleted instance lives until its user lets go") {
  auto table = InstanceTable::Create({WorldOf("openbmc-stock")}, {}).value();
  const std::string id = table->Make("openbmc-stock", "mine", {}).value();
  const auto slot = table->Find(id);
  REQUIRE(table->Delete(id));
  REQUIRE(!table->Delete(id));
  const runtime::MutexLock lock(slot->mutex);
  REQUIRE(Get(slot->instance, "/redfish/v1").status == 200);
}

TEST_CASE("An id that exists is replaced by a fresh instance") {
  auto table = InstanceTable::Create({WorldOf("openbmc-stock")}, {}).value();
  REQUIRE(table->Make("", "mine", {}).ok());
  const auto first = table->Find("mine");
  REQUIRE(table->Make("", "mine", {}).ok());
  REQUIRE(table->Find("mine") != first);
}

TEST_CASE("Two captures of one name are refused") {
  const auto world = WorldOf("openbmc-stock");
  REQUIRE(InstanceTable::Create({world, world}, {}).status().code() ==
          absl::StatusCode::kInvalidArgument);
  REQUIRE(InstanceTable::Create({}, {}).status().code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace shoal::mockserver
