// SPDX-License-Identifier: Apache-2.0
// Ranks that fit a linear model by gradient descent in float64, where rounding hides nothing.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

constexpr std::size_t kSteps = 200;
constexpr std::size_t kSamples = 24;
constexpr std::size_t kInputs = 5;

using Weights = std::array<double, kInputs>;

double Input(std::size_t sample, std::size_t input) {
  return std::sin(1.3 * static_cast<double>(sample) + 2.1 * static_cast<double>(input * input));
}

// A linear function of the inputs, and what no linear function explains.
double Target(std::size_t sample) {
  return 2 * Input(sample, 0) - Input(sample, 3) +
         0.2 * std::cos(0.7 * static_cast<double>(sample));
}

// Samples begin..end-1, of which `micro_batch` are computed at once.
struct Part {
  std::size_t begin = 0;
  std::size_t end = kSamples;
  std::size_t micro_batch = kSamples;
};

struct Course {
  std::vector<Weights> weights;
  std::vector<double> losses;
};

// Descends along the mean squared error over the samples of all ranks.
absl::StatusOr<Course> Fit(const Part& part, GradientReducer& reducer) {
  Course course;
  Weights weights{};
  for (std::size_t step = 0; step < kSteps; ++step) {
    // The gradient, the loss and the number of samples.
    std::array<double, kInputs + 2> sums{};
    for (std::size_t begin = part.begin; begin < part.end; begin += part.micro_batch) {
      std::array<double, kInputs + 2> micro{};
      for (std::size_t i = begin; i < std::min(part.end, begin + part.micro_batch); ++i) {
        double error = -Target(i);
        for (std::size_t k = 0; k < kInputs; ++k) error += weights[k] * Input(i, k);
        for (std::size_t k = 0; k < kInputs; ++k) micro[k] += 2 * error * Input(i, k);
        micro[kInputs] += error * error;
        micro[kInputs + 1] += 1;
      }
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += micro[k];
    }
    SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<double>(sums)));
    const double samples = sums[kInputs + 1];
    for (std::size_t k = 0; k < kInputs; ++k) weights[k] -= 0.1 * sums[k] / samples;
    course.weights.push_back(weights);
    course.losses.push_back(sums[kInputs] / samples);
  }
  return course;
}

TEST_CASE("in float64 ranks with unequal micro-batches lose what one process loses for 200 steps") {
  SingleRank single;
  const Course alone = Fit({}, single).value();
  REQUIRE(alone.losses.back() < 0.5 * alone.losses.front());
  const std::vector<std::vector<Part>> groups = {
      {{0, 24, 7}},
      {{0, 5, 2}, {5, 24, 6}},
      {{0, 1, 1}, {1, 9, 3}, {9, 9, 1}, {9, 24, 4}},
  };
  for (const std::int64_t ring_min_bytes : doubles::kBothWays) {
    for (const std::vector<Part>& parts : groups) {
      INFO(parts.size() << " ranks, ring from " << ring_min_bytes << " bytes on");
      std::vector<Course> courses(parts.size());
      const auto ends = doubles::TryRanks(
          parts.size(),
          [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
            SHOAL_ASSIGN_OR_RETURN(courses[rank], Fit(parts[rank], reducer));
            return absl::OkStatus();
          },
          doubles::PatientGroup(ring_min_bytes));
      for (const absl::Status& end : ends) REQUIRE(end.ToString() == "OK");
      for (const Course& course : courses) {
        REQUIRE(course.weights == courses.front().weights);
        REQUIRE(course.losses == courses.front().losses);
      }
      for (std::size_t step = 0; step < kSteps; ++step) {
        REQUIRE(std::abs(courses.front().losses[step] - alone.losses[step]) < 1e-8);
      }
    }
  }
}

}  // namespace
}  // namespace shoal::collectives
