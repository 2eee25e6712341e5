// SPDX-License-Identifier: Apache-2.0
#include "encoder/recent_rate.h"

#include <algorithm>
#include <chrono>

namespace shoal::encoder {
namespace {

double SecondsBetween(runtime::TimePoint from, runtime::TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

double RateOf(double tokens, double seconds) { return seconds > 0 ? tokens / seconds : 0; }

}  // namespace

void RecentRate::Start(runtime::TimePoint now, double done) {
  begin_ = now;
  last_ = now;
  done_at_begin_ = done;
}

void RecentRate::Add(runtime::TimePoint now, std::int64_t tokens, double done) {
  const Stretch step{SecondsBetween(last_, now), static_cast<double>(tokens)};
  last_ = now;
  all_.seconds += step.seconds;
  all_.tokens += step.tokens;
  recent_.push_back(step);
  if (recent_.size() > kSteps) recent_.pop_front();
  if (done <= done_at_begin_) return;
  seconds_left_ = SecondsBetween(begin_, now) * std::max(0.0, 1 - done) / (done - done_at_begin_);
}

void RecentRate::Skip(runtime::TimePoint now) { last_ = now; }

double RecentRate::tokens_per_second() const {
  Stretch sum;
  for (const Stretch& step : recent_) {
    sum.seconds += step.seconds;
    sum.tokens += step.tokens;
  }
  return RateOf(sum.tokens, sum.seconds);
}

double RecentRate::overall() const { return RateOf(all_.tokens, all_.seconds); }

}  // namespace shoal::encoder
