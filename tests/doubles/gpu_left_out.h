// SPDX-License-Identifier: Apache-2.0
// What a test does with its part for a GPU on a machine without one.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

namespace shoal::doubles {

// Says on the test's output that the part is left out, and why. With SHOAL_REQUIRE_CUDA in the
// environment it fails the test instead: the machine is known to have a GPU, so CUDA did not load.
inline void LeaveOutGpu(const std::string& why) {
  if (std::getenv("SHOAL_REQUIRE_CUDA") != nullptr) FAIL("SHOAL_REQUIRE_CUDA is set: " << why);
  WARN("without a GPU: " << why);
}

}  // namespace shoal::doubles
