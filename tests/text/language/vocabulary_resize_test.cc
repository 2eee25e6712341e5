// SPDX-License-Identifier: Apache-2.0
#include "text/language/vocabulary_resize.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/text/language/small_gpt2.h"
#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

TEST_CASE("old parameters stay, new rows are near the mean of the old ones") {
  const Gpt2Parameters old = SmallGpt2();
  const Gpt2Parameters resized = ResizeVocabulary(old, 60, 7).value();
  REQUIRE(resized.config.vocabulary_size == 60);
  const auto from = Gpt2Layout(old.config);
  const auto to = Gpt2Layout(resized.config);
  for (std::size_t i = 0; i < from.parameters.size(); ++i) {
    const auto begin = old.flat.begin() + from.parameters[i].offset;
    REQUIRE(std::equal(begin, begin + from.parameters[i].size,
                       resized.flat.begin() + to.parameters[i].offset));
  }
  for (std::size_t column = 0; column < 16; ++column) {
    double mean = 0;
    for (std::size_t row = 0; row < 50; ++row) mean += old.flat[row * 16 + column] / 50;
    for (std::size_t row = 50; row < 60; ++row) {
      // The rows' standard deviation is about 0.2, and the noise is a tenth of it.
      REQUIRE(std::abs(resized.flat[row * 16 + column] - mean) < 0.1);
      REQUIRE(resized.flat[row * 16 + column] != static_cast<float>(mean));
    }
  }
}

TEST_CASE("new rows are a function of the seed, whatever the number of rows") {
  const Gpt2Parameters old = SmallGpt2();
  const auto rows = [&](std::int64_t size, std::uint64_t seed) {
    const Gpt2Parameters resized = ResizeVocabulary(old, size, seed).value();
    return std::vector<float>(resized.flat.begin() + 50 * 16, resized.flat.begin() + 52 * 16);
  };
  REQUIRE(rows(52, 1) == rows(60, 1));
  REQUIRE(rows(52, 1) != rows(52, 2));
}

TEST_CASE("a vocabulary does not shrink, and the same size changes nothing") {
  const Gpt2Parameters old = SmallGpt2();
  REQUIRE(absl::IsInvalidArgument(ResizeVocabulary(old, 49, 1).status()));
  REQUIRE(absl::IsInvalidArgument(ResizeVocabulary(old, 1 << 21, 1).status()));
  REQUIRE(ResizeVocabulary(old, 50, 1)->config == old.config);
}

}  // namespace
}  // namespace shoal::language
