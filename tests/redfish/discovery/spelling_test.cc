// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/assembly.h"

#include <catch2/catch.hpp>

namespace shoal::discovery {
namespace {

TEST_CASE("A prefix is spelled as most URIs spell it, and a name that stands alone as it is") {
  const Spelling spelling({"/redfish/v1/Systems", "/redfish/v1/Systems/1",
                           "/redfish/v1/systems/1/bios", "/redfish/v1/systems/1/bios/settings"});
  REQUIRE(spelling.Of("/redfish/v1/systems/1/bios") == "/redfish/v1/Systems/1/bios");
  REQUIRE(spelling.Of("/redfish/v1/Systems/1") == "/redfish/v1/Systems/1");
}

}  // namespace
}  // namespace shoal::discovery
