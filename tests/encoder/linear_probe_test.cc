// SPDX-License-Identifier: Apache-2.0
#include "encoder/linear_probe.h"

#include <catch2/catch.hpp>

#include "platform/runtime/random.h"

namespace shoal::encoder {
namespace {

// Rows of noise, to whose number 3 the label adds `signal` or takes it away.
LabelledRows Rows(double signal, std::uint64_t seed, std::size_t count = 120,
                  std::size_t width = 20) {
  runtime::Random random(seed);
  LabelledRows rows{.width = width, .values = {}, .labels = {}};
  for (std::size_t row = 0; row < count; ++row) {
    rows.labels.push_back(static_cast<std::uint8_t>(random.Below(2)));
    for (std::size_t i = 0; i < width; ++i) {
      const double own = i == 3 ? (rows.labels.back() == 0 ? -signal : signal) : 0;
      rows.values.push_back(static_cast<float>(own + random.Normal()));
    }
  }
  return rows;
}

TEST_CASE("a probe finds a linear sign of the class, and nothing in noise") {
  REQUIRE(ProbeAccuracy(Rows(4, 1), Rows(4, 2)) > 0.97);
  const double chance = ProbeAccuracy(Rows(0, 3, 200), Rows(0, 4, 400));
  REQUIRE(chance > 0.4);
  REQUIRE(chance < 0.6);
}

TEST_CASE("more numbers than examples do not keep a probe from the sign") {
  REQUIRE(ProbeAccuracy(Rows(6, 5, 60, 300), Rows(6, 6, 200, 300)) > 0.9);
}

TEST_CASE("the offset between classes may be anywhere") {
  LabelledRows training{.width = 1, .values = {}, .labels = {}};
  LabelledRows test = training;
  for (int i = 0; i < 40; ++i) {
    auto& rows = i % 4 < 2 ? training : test;
    rows.values.push_back(i % 2 == 0 ? 7.0F : 9.0F);
    rows.labels.push_back(static_cast<std::uint8_t>(i % 2));
  }
  REQUIRE(ProbeAccuracy(training, test) == 1);
}

}  // namespace
}  // namespace shoal::encoder
