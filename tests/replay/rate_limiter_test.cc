// SPDX-License-Identifier: Apache-2.0
#include "replay/rate_limiter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

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

// All that has happened, from which each answer is computed anew.
struct Log {
  struct Item {
    std::uint32_t steps = 0;
    std::uint32_t times_sampled = 0;
    bool left = false;
  };

  std::vector<std::size_t> Present() const {
    std::vector<std::size_t> present;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].left) present.push_back(i);
    }
    return present;
  }
  // What items in the table have earned, and those that left have used, less what was sampled.
  double Credit(double ratio) const {
    double earned = 0;
    double sampled = 0;
    for (const Item& item : items) {
      const double uses = item.left ? std::min<double>(ratio, item.times_sampled) : ratio;
      earned += uses * item.steps;
      sampled += static_cast<double>(item.times_sampled) * item.steps;
    }
    return earned - sampled;
  }

  std::vector<Item> items;
};

TEST_CASE("a limiter says at each moment what a log of all that has happened says") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    runtime::Random random(seed);
    // Parts of 64 are exact in both sums, so that even an equal credit and buffer compare alike.
    const auto fraction = [&random](std::uint64_t below) {
      return static_cast<double>(random.Below(below)) / 64;
    };
    const RateLimiterOptions options{.min_size = random.Below(6),
                                     .samples_per_insert = fraction(64 * 5),
                                     .error_buffer = fraction(64 * 80)};
    const double ratio = options.samples_per_insert;
    RateLimiter limiter(options);
    Log log;
    for (int i = 0; i < 400; ++i) {
      const std::vector<std::size_t> present = log.Present();
      const double credit = log.Credit(ratio);
      const bool enough = !present.empty() && present.size() >= options.min_size;
      const bool may_insert = ratio == 0 || !enough || credit <= options.error_buffer;
      const bool may_sample = ratio == 0 || credit >= -options.error_buffer;
      if (ratio > 0) REQUIRE(limiter.credit() == credit);
      REQUIRE(limiter.HoldsEnough(present.size()) == enough);
      REQUIRE(limiter.MayInsert(present.size()) == may_insert);
      REQUIRE(limiter.MaySample() == may_sample);
      const std::uint64_t choice = random.Below(8);
      if (choice < 3 && may_insert) {
        log.items.push_back({.steps = static_cast<std::uint32_t>(1 + random.Below(20))});
        limiter.Inserted(log.items.back().steps);
      } else if (choice < 7 && enough && may_sample) {
        Log::Item& item = log.items[present[random.Below(present.size())]];
        ++item.times_sampled;
        limiter.Sampled(item.steps);
      } else if (choice == 7 && !present.empty()) {
        Log::Item& item = log.items[present[random.Below(present.size())]];
        item.left = true;
        limiter.Removed(item.steps, item.times_sampled);
      }
    }
  }
}

}  // namespace
}  // namespace shoal::replay
