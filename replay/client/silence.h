// SPDX-License-Identifier: Apache-2.0
// What a sampler knows of a shard that has credit and gives nothing: for how long, and whether the
// shard has said that its table waits, for its rate limiter say. A shard says so again and again
// while it lasts, so one that says nothing is silent.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "platform/runtime/clock.h"

namespace shoal::replay::client {

class Silence {
 public:
  // How long a shard may say nothing, and how long one that waits may hold up others.
  static constexpr std::chrono::seconds kPatience{2};

  // The shard gave items, or was given credit after it had none.
  void Begin(runtime::TimePoint now) {
    since_ = now;
    reason_.clear();
  }
  // The shard said for what its table waits.
  void Waits(std::string reason, runtime::TimePoint now) {
    reason_ = std::move(reason);
    told_ = now;
  }

  // Returns whether nothing has come for long.
  bool lasts(runtime::TimePoint now) const { return now - since_ > kPatience; }
  // Returns whether the shard has said of late that its table waits.
  bool explained(runtime::TimePoint now) const {
    return !reason_.empty() && now - told_ <= kPatience;
  }

 private:
  runtime::TimePoint since_{};
  std::string reason_;
  runtime::TimePoint told_{};
};

}  // namespace shoal::replay::client
