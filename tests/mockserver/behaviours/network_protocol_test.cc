// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/network_protocol.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {

TEST_CASE("A port is 1 to 65535") {
  Instance instance(WorldOf("dell-r750"));
  const std::string uri = "/redfish/v1/Managers/iDRAC.Embedded.1/NetworkProtocol";
  for (const int port : {70'000, 65'536, 0, -1}) {
    INFO(port);
    const Response response = Patch(instance, uri, {{"SSH", {{"Port", port}}}});
    REQUIRE(response.status == 400);
    REQUIRE(Messages(response) == std::vector<std::string>{"PropertyValueOutOfRange"});
  }
  REQUIRE(Patch(instance, uri, {{"SSH", {{"Port", 65'535}}}}).status == 200);
}

}  // namespace shoal::mockserver
