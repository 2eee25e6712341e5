// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/difference.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/rl/parameters/weights.h"

namespace shoal::parameters {
namespace {

std::string Restored(const std::string& base, const std::string& file) {
  return *ApplyDifference(base, *MakeDifference(base, file), file.size());
}

TEST_CASE("a difference gives back the very file, and is half as large for a small step") {
  const std::string before = WeightsFile({.seed = 1});
  const std::string after = WeightsFile({.seed = 1, .step = 1e-5F, .environment_steps = "1000000"});
  const auto difference = MakeDifference(before, after);
  REQUIRE(difference.ok());
  REQUIRE(2 * difference->size() < after.size());
  REQUIRE(*ApplyDifference(before, *difference, after.size()) == after);
}

TEST_CASE("a difference keeps every bit of numbers that are not finite and of every dtype") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> odd = {std::nanf("1"), kInfinity, -kInfinity, -0.0F, 0x1p-149F, 3e38F};
  std::vector<float> even = {0.0F, -1.0F, std::nanf("2"), 0.0F, -0x1p-149F, -3e38F};
  const std::string a = EveryDTypeFile(odd, 7);
  const std::string b = EveryDTypeFile(even, -9);
  REQUIRE(Restored(a, b) == b);
  REQUIRE(Restored(b, a) == a);
}

TEST_CASE("tensors that come, go, are empty or change their shape or dtype are restored too") {
  const std::vector<float> four = {1, 2, 3, 4};
  const std::vector<std::uint16_t> halves = {1, 2, 3, 4};
  const std::vector<float> none;
  const std::string base =
      FileOf({Item("a", {4}, four), Item("b", {2, 2}, four), Item("gone", {4}, four)});
  const std::string file = FileOf({Item("a", {4}, halves), Item("b", {4}, four),
                                   Item("new", {4}, four), Item("none", {0, 3}, none)});
  REQUIRE(Restored(base, file) == file);
  REQUIRE(Restored(file, base) == base);
  const std::string nothing = FileOf({});
  REQUIRE(Restored(nothing, nothing) == nothing);
}

TEST_CASE("what is no weight file has no difference") {
  const std::string file = WeightsFile({});
  REQUIRE_FALSE(MakeDifference("no file", file).ok());
  REQUIRE_FALSE(MakeDifference(file, "no file").ok());
  REQUIRE_FALSE(ApplyDifference("no file", *MakeDifference(file, file), file.size()).ok());
}

TEST_CASE("a damaged difference never restores the file it was made of") {
  const std::string before = WeightsFile({.seed = 1, .rows = 4});
  const std::string after = WeightsFile({.seed = 1, .rows = 4, .step = 1e-3F});
  const std::string difference = *MakeDifference(before, after);
  for (std::size_t at = 0; at < difference.size(); ++at) {
    REQUIRE_FALSE(ApplyDifference(before, difference.substr(0, at), after.size()).ok());
    std::string damaged = difference;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const auto restored = ApplyDifference(before, damaged, after.size());
    // The frame's header has bits that say nothing of its content.
    if (restored.ok() && at > 8) REQUIRE(*restored != after);
  }
  REQUIRE_FALSE(ApplyDifference(before, difference + "more", after.size()).ok());
}

TEST_CASE("a stated size that is wrong or too large is refused before memory is taken") {
  const std::string file = WeightsFile({});
  const std::string difference = *MakeDifference(file, file);
  REQUIRE(absl::IsInvalidArgument(ApplyDifference(file, difference, file.size() + 1).status()));
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  REQUIRE(absl::IsInvalidArgument(ApplyDifference(file, difference, huge).status()));
  const std::string small = FileOf({});
  const std::string large = WeightsFile({.rows = 3000});
  REQUIRE(large.size() > MostFileBytes(small.size()));
  REQUIRE(absl::IsInvalidArgument(MakeDifference(small, large).status()));
}

}  // namespace
}  // namespace shoal::parameters
