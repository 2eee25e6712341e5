// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/zstd_frame.h"

#include <catch2/catch.hpp>
#include <string>

namespace shoal::runtime {

TEST_CASE("a frame holds what was packed, states how much it is, and is smaller") {
  for (const std::size_t size : {0U, 1U, 1000U, 300'000U}) {
    const std::string bytes(size, 'x');
    const std::string frame = PackFrame(bytes, 1).value();
    REQUIRE(StatedBytes(frame) == size);
    REQUIRE(UnpackFrame(frame, size).value() == bytes);
    if (size >= 1000) REQUIRE(frame.size() < size / 10);
  }
}

TEST_CASE("a frame of another size, a damaged one and what is none are refused") {
  const std::string bytes = "these are the bytes of a frame, of this frame";
  const std::string frame = PackFrame(bytes, 3).value();
  REQUIRE(absl::IsInvalidArgument(UnpackFrame(frame, bytes.size() + 1).status()));
  // Nothing of this size can be allocated.
  REQUIRE(absl::IsInvalidArgument(UnpackFrame(frame, std::uint64_t{1} << 62).status()));
  REQUIRE(absl::IsInvalidArgument(
      UnpackFrame(std::string_view(frame).substr(0, frame.size() - 4), bytes.size()).status()));
  REQUIRE(absl::IsInvalidArgument(UnpackFrame("no frame", 8).status()));
  REQUIRE_FALSE(StatedBytes("no frame").has_value());
  REQUIRE_FALSE(StatedBytes("").has_value());
}

}  // namespace shoal::runtime
