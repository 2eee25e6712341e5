// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/inference_devices.h"

#include <catch2/catch.hpp>
#include <string_view>

namespace shoal::cli {

TEST_CASE("each entry of a list of devices acts, on a device that others may share") {
  const auto is = [](std::string_view names, std::int64_t replicas, std::int64_t devices) {
    const InferenceDevices found = InferenceDevices::Of(names, 8);
    return found.replicas == replicas && found.devices == devices;
  };
  REQUIRE(is("auto", 1, 1));
  REQUIRE(is("cuda:3", 1, 1));
  REQUIRE(is("cpu,cpu", 2, 1));
  REQUIRE(is("cuda:0, cuda:1,cuda:0", 3, 2));
  REQUIRE(is("cuda:*", 8, 8));
}

}  // namespace shoal::cli
