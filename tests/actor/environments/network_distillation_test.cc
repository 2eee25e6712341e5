// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/network_distillation.h"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

std::vector<float> OneOf(std::size_t size, std::size_t place) {
  std::vector<float> observation(size);
  observation[place] = 1;
  return observation;
}

TEST_CASE("What was seen often is predicted, and what was not seen stays new") {
  NetworkDistillation distillation({.size = 10, .seed = 3});
  double first = 0;
  double last = 0;
  for (int visit = 0; visit < 1000; ++visit) {
    for (std::size_t place = 0; place < 9; ++place) {
      const double error = distillation.Observe(OneOf(10, place));
      if (visit == 0) first += error;
      if (visit == 999) last += error;
    }
  }
  REQUIRE(last < first / 100);
  REQUIRE(distillation.Observe(OneOf(10, 9)) > 10 * last / 9);
}

TEST_CASE("An observation takes no more than about the rate of its own error away") {
  for (const float scale : {0.01F, 1.0F, 100.0F}) {
    NetworkDistillation distillation({.size = 4, .rate = 0.1, .seed = 7});
    std::vector<float> observation = {scale, -scale, 0, scale / 2};
    double before = distillation.Observe(observation);
    for (int visit = 0; visit < 50; ++visit) {
      const double after = distillation.Observe(observation);
      REQUIRE(after < before);
      // The error is squared.
      REQUIRE(after > before * 0.7);
      before = after;
    }
  }
}

TEST_CASE("Errors are a function of the seed and of what was seen") {
  const auto error_after = [](std::uint64_t seed, std::size_t visits) {
    NetworkDistillation distillation({.size = 3, .seed = seed});
    for (std::size_t i = 0; i < visits; ++i) distillation.Observe(OneOf(3, i % 3));
    return distillation.Observe(OneOf(3, 0));
  };
  REQUIRE(error_after(1, 5) == error_after(1, 5));
  REQUIRE(error_after(1, 5) != error_after(2, 5));
  REQUIRE(error_after(1, 5) != error_after(1, 6));
}

TEST_CASE("An observation that is not finite trains nothing") {
  NetworkDistillation distillation({.size = 2, .seed = 1});
  NetworkDistillation other({.size = 2, .seed = 1});
  REQUIRE(distillation.Observe(std::vector<float>{1, std::numeric_limits<float>::infinity()}) == 0);
  REQUIRE(distillation.Observe(OneOf(2, 0)) == other.Observe(OneOf(2, 0)));
}

}  // namespace
}  // namespace shoal::actor
