// SPDX-License-Identifier: Apache-2.0
// A rate limiter keeps sampling and inserting in step: it says when a table may give and take.
//
// It counts in steps. An inserted step earns `samples_per_insert` sampled ones; what is earned and
// not used is `credit`. Inserts wait while credit is above `error_buffer`, samples while it is
// below -error_buffer; both are asked before the item is counted, so never both wait, and either
// goes over by at most one item. A table smaller than `min_size` takes and does not give.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace shoal::replay {

struct RateLimiterOptions {
  // The table gives nothing while it holds fewer items; 0 and 1 are the same.
  std::size_t min_size = 1;
  // 0 means that there is no limit but min_size.
  double samples_per_insert = 0;
  // So many steps of samples ahead or behind are tolerated; it is at least 0.
  double error_buffer = 0;
};

class RateLimiter {
 public:
  explicit RateLimiter(const RateLimiterOptions& options) : options_(options) {}

  bool MayInsert(std::size_t size) const {
    if (options_.samples_per_insert <= 0 || size < options_.min_size) return true;
    return credit_ <= options_.error_buffer;
  }
  bool HoldsEnough(std::size_t size) const { return size >= options_.min_size && size > 0; }
  bool MaySample() const {
    return options_.samples_per_insert <= 0 || credit_ >= -options_.error_buffer;
  }

  void Inserted(std::uint32_t steps) { credit_ += options_.samples_per_insert * steps; }
  void Sampled(std::uint32_t steps) {
    if (options_.samples_per_insert > 0) credit_ -= steps;
  }
  // An item left after `times_sampled`: what it earned and can no longer use is taken back.
  void Removed(std::uint32_t steps, std::uint32_t times_sampled) {
    credit_ -= std::max(0.0, options_.samples_per_insert - times_sampled) * steps;
  }

  double credit() const { return credit_; }

 private:
  const RateLimiterOptions options_;
  double credit_ = 0;
};

}  // namespace shoal::replay
