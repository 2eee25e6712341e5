// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/boot_options.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {
namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("A boot order has options of the system, and at least one") {
  for (const char* capture : {"dell-r750", "hpe-dl380a-gen12"}) {
    INFO(capture);
    Instance instance(WorldOf(capture));
    const std::string system = LandmarksOf(instance.world()).system;
    const Json before = At(instance, system, "/Boot/BootOrder");
    for (const Json& order :
         {Json::array({"Boot9999"}), Json::array({before[0], "Boot9999"}), Json::array()}) {
      INFO(order.dump());
      const Response response = Patch(instance, system, {{"Boot", {{"BootOrder", order}}}});
      REQUIRE(response.status == 400);
      REQUIRE(Messages(response) == Names{"PropertyValueNotInList"});
      REQUIRE(response.json->dump().find("/Boot/BootOrder") != std::string::npos);
      REQUIRE(At(instance, system, "/Boot/BootOrder") == before);
    }
    Json order = before;
    std::reverse(order.begin(), order.end());
    REQUIRE(Patch(instance, system, {{"Boot", {{"BootOrder", order}}}}).status == 200);
    REQUIRE(At(instance, system, "/Boot/BootOrder") == order);
  }
}

TEST_CASE("The next boot is of an option of the system, and is for once") {
  const std::string system = LandmarksOf(*WorldOf("dell-r750")).system;
  Json captured = *WorldOf("dell-r750")->capture().Find(system);
  captured["Boot"]["BootNext"] = "";
  captured["Boot"].erase("BootSourceOverrideTarget@Redfish.AllowableValues");
  Instance instance(WorldWith("dell-r750", {{system, captured}}));
  const auto boot = [&](const Json& members) {
    return Patch(instance, system, {{"Boot", members}}).status;
  };
  REQUIRE(boot({{"BootNext", "Boot9999"}}) == 400);
  REQUIRE(boot({{"BootNext", "Boot0001"}}) == 200);
  REQUIRE(boot({{"BootSourceOverrideTarget", "UefiBootNext"},
                {"BootSourceOverrideEnabled", "Continuous"}}) == 400);
  REQUIRE(boot({{"BootSourceOverrideTarget", "UefiBootNext"},
                {"BootSourceOverrideEnabled", "Once"}}) == 200);
  REQUIRE(boot({{"BootSourceOverrideEnabled", "Continuous"}}) == 400);
  REQUIRE(At(instance, system, "/Boot/BootSourceOverrideEnabled") == "Once");
}

}  // namespace shoal::mockserver
