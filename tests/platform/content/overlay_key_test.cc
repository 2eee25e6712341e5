// SPDX-License-Identifier: Apache-2.0
#include "platform/content/overlay_key.h"

#include <catch2/catch.hpp>
#include <vector>

namespace shoal::content {
namespace {

TEST_CASE("The key of an overlay depends on its base, on what it removes and on what it appends") {
  const std::vector<ContentKey> a = {KeyOf("a")};
  const std::vector<std::uint32_t> removed = {1, 2};
  const ContentKey key = OverlayKey(KeyOf("base"), removed, a);
  REQUIRE(key == OverlayKey(KeyOf("base"), removed, a));
  REQUIRE(key != OverlayKey(KeyOf("other"), removed, a));
  REQUIRE(key != OverlayKey(KeyOf("base"), std::vector<std::uint32_t>{1}, a));
  REQUIRE(key != OverlayKey(KeyOf("base"), removed, {}));
}

}  // namespace
}  // namespace shoal::content
