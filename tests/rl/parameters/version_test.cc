// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/version.h"

#include <catch2/catch.hpp>
#include <limits>

namespace shoal::parameters {

TEST_CASE("a version's text says which version it is, and no other text does") {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  for (const Version& version : {Version{0, 0}, Version{3, 120}, Version{kMost, kMost}}) {
    REQUIRE(ParseVersion(ToString(version)) == version);
  }
  for (const char* text :
       {"", ".", "3", "3.", ".120", "3.120.1", "3,120", "-3.120", "3.-120", " 3.120", "3.120 ",
        "learned", "03.120", "3.0120", "18446744073709551616.0"}) {
    INFO(text);
    REQUIRE_FALSE(ParseVersion(text).has_value());
  }
}

}  // namespace shoal::parameters
