// SPDX-License-Identifier: Apache-2.0
#include "replay/rate_limiter.h"

#include <catch2/catch.hpp>

#include "platform/runtime/random.h"

namespace shoal::replay {
namespace {

TEST_CASE("without samples_per_insert only min_size limits, and only samples") {
  RateLimiter limiter({.min_size = 3});
  for (int i = 0; i < 1000; ++i) limiter.Inserted(10);
  REQUIRE(limiter.MayInsert(1000));
  REQUIRE(limiter.MaySample());
  REQUIRE_FALSE(limiter.HoldsEnough(2));
  REQUIRE(limiter.HoldsEnough(3));
}

TEST_CASE("inserts wait while samples are behind by more than the buffer") {
  RateLimiter limiter({.min_size = 1, .samples_per_insert = 2, .error_buffer = 30});
  limiter.Inserted(10);
  REQUIRE(limiter.MayInsert(1));
  limiter.Inserted(10);
  REQUIRE_FALSE(limiter.MayInsert(2));
  limiter.Sampled(10);
  REQUIRE(limiter.MayInsert(2));
}

TEST_CASE("samples wait while they are ahead by more than the buffer") {
  RateLimiter limiter({.min_size = 1, .samples_per_insert = 1, .error_buffer = 10});
  limiter.Inserted(10);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(limiter.MaySample());
    limiter.Sampled(10);
  }
  REQUIRE_FALSE(limiter.MaySample());
}

TEST_CASE("a table below its minimum size takes whatever the credit is") {
  RateLimiter limiter({.min_size = 5, .samples_per_insert = 1, .error_buffer = 0});
  limiter.Inserted(10);
  REQUIRE(limiter.MayInsert(4));
  REQUIRE_FALSE(limiter.MayInsert(5));
}

TEST_CASE("an item that leaves early gives back what it earned and cannot use") {
  RateLimiter limiter({.min_size = 1, .samples_per_insert = 4, .error_buffer = 0});
  limiter.Inserted(10);
  limiter.Sampled(10);
  limiter.Removed(10, 1);
  REQUIRE(limiter.credit() == 0);
  limiter.Removed(10, 9);
  REQUIRE(limiter.credit() == 0);
}

TEST_CASE("inserting and sampling never both wait, and keep the ratio") {
  runtime::Random random(7);
  RateLimiter limiter({.min_size = 1, .samples_per_insert = 3, .error_buffer = 20});
  double inserted = 0;
  double sampled = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto steps = static_cast<std::uint32_t>(1 + random.Below(16));
    const bool insert = random.Below(2) == 0;
    REQUIRE((limiter.MayInsert(10) || limiter.MaySample()));
    if (insert && limiter.MayInsert(10)) {
      limiter.Inserted(steps);
      inserted += steps;
    } else if (!insert && limiter.MaySample()) {
      limiter.Sampled(steps);
      sampled += steps;
    }
    REQUIRE(sampled <= 3 * inserted + 20 + 16);
    REQUIRE(sampled >= 3 * inserted - 20 - 3 * 16);
  }
}

}  // namespace
}  // namespace shoal::replay
