// SPDX-License-Identifier: Apache-2.0
// A rate limiter keeps samples and inserts in proportion: it says when a table may give and take
// items.
//
// It counts steps. An inserted step earns `samples_per_insert` sampled steps, and `credit` is what
// is earned and not used. Inserts wait while the credit is above `error_buffer`, samples while it
// is below -error_buffer. Both are checked before the item is counted, so they never wait at the
// same time, and each may exceed its limit by one item. A table with fewer than `min_size` items
// takes items and gives none.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace shoal::replay {

struct RateLimiterOptions {
  // The table gives nothing while it holds fewer items. 0 and 1 mean the same.
  std::size_t min_size = 1;
  // With 0 only min_size limits samples.
  double samples_per_insert = 0;
  // The tolerated lead or lag of samples in steps, at least 0.
  double error_buffer = 0;
};

class RateLimiter {
 public:
  explicit RateLimiter(const RateLimiterOptions& options) : options_(options) {}

  bool MayInsert(std::size_t size) const {
    if (options_.samples_per_insert <= 0 || !HoldsEnough(size)) return true;
    return credit_ <= options_.error_buffer;
  }
  bool HoldsEnough(std::size_t size) const { return size >= options_.min_size && size > 0; }
  bool MaySample() const {
    return options_.samples_per_insert <= 0 || credit_ >= -options_.error_buffer;
  }

  const RateLimiterOptions& options() const { return options_; }
  // Goes on with other options and this credit.
  void Change(const RateLimiterOptions& options, double credit) {
    options_ = options;
    credit_ = credit;
  }

  void Inserted(std::uint32_t steps) { credit_ += options_.samples_per_insert * steps; }
  void Sampled(std::uint32_t steps) {
    if (options_.samples_per_insert > 0) credit_ -= steps;
  }
  // An item left after `times_sampled` samples. Takes back what it earned and can no longer use.
  void Removed(std::uint32_t steps, std::uint32_t times_sampled) {
    credit_ -= std::max(0.0, options_.samples_per_insert - times_sampled) * steps;
  }

  double credit() const { return credit_; }
  // Goes on with the credit of an earlier process.
  void Restore(double credit) { credit_ = credit; }

 private:
  RateLimiterOptions options_;
  double credit_ = 0;
};

}  // namespace shoal::replay
