// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/ethernet_interface.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {

TEST_CASE("Static addresses are those of the interface while DHCP is off") {
  const std::string uri = "/redfish/v1/Managers/bmc/EthernetInterfaces/eth0";
  Instance instance(WorldOf("openbmc-stock"));
  const Json captured = At(instance, uri, "/IPv4Addresses");
  REQUIRE(captured.at(0).at("AddressOrigin") == "DHCP");
  const Json address = {
      {"Address", "10.9.8.7"}, {"SubnetMask", "255.255.255.0"}, {"Gateway", "10.9.8.1"}};
  REQUIRE(Patch(instance, uri, {{"IPv4StaticAddresses", Json::array({address})}}).status == 200);
  REQUIRE(At(instance, uri, "/IPv4Addresses") == captured);
  REQUIRE(Patch(instance, uri, {{"DHCPv4", {{"DHCPEnabled", false}}}}).status == 200);
  Json listed = address;
  listed["AddressOrigin"] = "Static";
  REQUIRE(At(instance, uri, "/IPv4Addresses") == Json::array({listed}));
  REQUIRE(Patch(instance, uri, {{"DHCPv4", {{"DHCPEnabled", true}}}}).status == 200);
  REQUIRE(At(instance, uri, "/IPv4Addresses") == captured);
}

}  // namespace shoal::mockserver
