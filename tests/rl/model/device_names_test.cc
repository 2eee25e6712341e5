// SPDX-License-Identifier: Apache-2.0
#include "rl/model/device_names.h"

#include <catch2/catch.hpp>

namespace shoal::model {

TEST_CASE("a list of devices keeps its order, repetitions and empty entries, without blanks") {
  using Names = std::vector<std::string>;
  REQUIRE(DeviceNames("auto") == Names{"auto"});
  REQUIRE(DeviceNames("cuda:1, cuda:0,\tcuda:1 ") == Names{"cuda:1", "cuda:0", "cuda:1"});
  REQUIRE(DeviceNames("cpu,,cpu") == Names{"cpu", "", "cpu"});
  REQUIRE(DeviceNames("") == Names{""});
}

}  // namespace shoal::model
