// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/situation.h"

#include <catch2/catch.hpp>

namespace shoal::redfish {
namespace {

// Fills two names, one of which has the other in braces as its value.
std::string Filled(std::string_view text) {
  return FillNames(text, [](std::string_view name) -> std::optional<std::string> {
    if (name == "system") return "/redfish/v1/Systems/1";
    if (name == "nested") return "{system}";
    return std::nullopt;
  });
}

TEST_CASE("A name in braces is replaced wherever it stands, as often as it stands") {
  REQUIRE(Filled("{system}") == "/redfish/v1/Systems/1");
  REQUIRE(Filled("of {system}/Bios, {system}") ==
          "of /redfish/v1/Systems/1/Bios, /redfish/v1/Systems/1");
}

TEST_CASE("What has no value, or is no name in braces, stays as it is") {
  for (const char* text : {"", "plain", "{}", "{other}", "}{", "{system", "system}"}) {
    INFO(text);
    REQUIRE(Filled(text) == text);
  }
  REQUIRE(Filled("{other} {system") == "{other} {system");
  REQUIRE(Filled("} {system}") == "} /redfish/v1/Systems/1");
}

TEST_CASE("What a name stands for is not filled again") {
  REQUIRE(Filled("{nested}") == "{system}");
}

}  // namespace
}  // namespace shoal::redfish
