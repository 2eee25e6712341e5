// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/running_moments.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "platform/runtime/random.h"
#include "tests/rl/estimators/close.h"

namespace shoal::estimators {
namespace {

// Rows of two features: one near 0, and one far from it, of which a sum of squares would lose all
// digits of the variance.
std::vector<Floats> Rows(std::size_t count) {
  runtime::Random random(5);
  std::vector<Floats> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back({static_cast<float>(random.Normal()),
                    static_cast<float>(1e6 + std::floor(8 * random.Uniform()))});
  }
  return rows;
}

RunningMoments MomentsOf(const std::vector<Floats>& rows, std::size_t begin, std::size_t end) {
  RunningMoments moments(2);
  for (std::size_t i = begin; i < end; ++i) REQUIRE(moments.Add(rows[i]));
  return moments;
}

void RequireSame(const RunningMoments& got, const RunningMoments& expected) {
  REQUIRE(got.count() == expected.count());
  for (std::size_t feature = 0; feature < 2; ++feature) {
    REQUIRE(got.mean(feature) == Approx(expected.mean(feature)).epsilon(1e-12));
    REQUIRE(got.variance(feature) == Approx(expected.variance(feature)).epsilon(1e-9));
  }
}

TEST_CASE("running moments are those of two passes over the rows") {
  const std::vector<Floats> rows = Rows(1000);
  const RunningMoments moments = MomentsOf(rows, 0, rows.size());
  REQUIRE(moments.count() == 1000);
  for (std::size_t feature = 0; feature < 2; ++feature) {
    double sum = 0;
    for (const Floats& row : rows) sum += row[feature];
    const double mean = sum / 1000;
    double squares = 0;
    for (const Floats& row : rows) squares += (row[feature] - mean) * (row[feature] - mean);
    REQUIRE(moments.mean(feature) == Approx(mean).epsilon(1e-12));
    REQUIRE(moments.variance(feature) == Approx(squares / 1000).epsilon(1e-9));
  }
}

TEST_CASE("ranks that merge have the moments of all their rows, some of no rows among them") {
  const std::vector<Floats> rows = Rows(300);
  RunningMoments merged(2);
  merged.Merge(RunningMoments(2));
  REQUIRE(merged.count() == 0);
  for (const auto& [begin, end] : {std::pair{0, 7}, {7, 7}, {7, 250}, {250, 300}}) {
    merged.Merge(MomentsOf(rows, static_cast<std::size_t>(begin), static_cast<std::size_t>(end)));
  }
  RequireSame(merged, MomentsOf(rows, 0, 300));
}

TEST_CASE("normalised rows have mean 0 and variance 1") {
  std::vector<Floats> rows = Rows(500);
  const RunningMoments moments = MomentsOf(rows, 0, rows.size());
  RunningMoments after(2);
  for (Floats& row : rows) {
    moments.Normalise(row);
    REQUIRE(after.Add(row));
  }
  for (std::size_t feature = 0; feature < 2; ++feature) {
    REQUIRE(after.mean(feature) == Approx(0).margin(1e-6));
    REQUIRE(after.variance(feature) == Approx(1).epsilon(1e-5));
  }
}

TEST_CASE("a normalised number is clamped, and a feature that never varied does not explode") {
  RunningMoments moments(2);
  for (const float value : {-1.0F, 1.0F}) REQUIRE(moments.Add(Floats{value, 5}));
  Floats row = {1000, 5};
  moments.Normalise(row, 7);
  REQUIRE(row == Floats{7, 0});
  row = {-1000, 1e9F};
  moments.Normalise(row);
  REQUIRE(row == Floats{-10, 10});
}

TEST_CASE("before two rows were seen, a row stays as it is within the limit") {
  RunningMoments moments(2);
  Floats row = {3, -1000};
  moments.Normalise(row, 10);
  REQUIRE(row == Floats{3, -10});
  REQUIRE(moments.Add(Floats{100, 100}));
  moments.Normalise(row, 10);
  REQUIRE(row == Floats{3, -10});
}

TEST_CASE("a row with a number that is not finite leaves no trace") {
  RunningMoments moments = MomentsOf(Rows(10), 0, 10);
  const RunningMoments before = moments;
  REQUIRE_FALSE(moments.Add(Floats{1, std::nanf("")}));
  REQUIRE_FALSE(moments.Add(Floats{std::numeric_limits<float>::infinity(), 1}));
  RequireSame(moments, before);
}

TEST_CASE("moments go on from what was stored, and nonsense is refused") {
  const std::vector<Floats> rows = Rows(50);
  const auto stored = RunningMoments::Create(MomentsOf(rows, 0, 20).sums());
  REQUIRE(stored.ok());
  RunningMoments moments = *stored;
  for (std::size_t i = 20; i < 50; ++i) REQUIRE(moments.Add(rows[i]));
  RequireSame(moments, MomentsOf(rows, 0, 50));
  const double nan = std::nan("");
  REQUIRE_FALSE(RunningMoments::Create({.count = 1, .mean = {1, 2}, .squares = {1}}).ok());
  REQUIRE_FALSE(RunningMoments::Create({.count = -1, .mean = {1}, .squares = {1}}).ok());
  REQUIRE_FALSE(RunningMoments::Create({.count = nan, .mean = {1}, .squares = {1}}).ok());
  REQUIRE_FALSE(RunningMoments::Create({.count = 1, .mean = {nan}, .squares = {1}}).ok());
  REQUIRE_FALSE(RunningMoments::Create({.count = 1, .mean = {1}, .squares = {-1}}).ok());
}

}  // namespace
}  // namespace shoal::estimators
