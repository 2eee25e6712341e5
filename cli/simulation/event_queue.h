// SPDX-License-Identifier: Apache-2.0
// Events in order of their times, and of when they were added among equal times. Time is a number
// of seconds that only events move.
//
// An event may add others, at its own time or later. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace shoal::cli {

class EventQueue {
 public:
  double now() const { return now_; }
  std::uint64_t events() const { return next_; }

  // Runs `event` at `time`; an earlier time than now counts as now.
  void At(double time, std::function<void()> event) {
    queue_.push({time < now_ ? now_ : time, next_++, std::move(event)});
  }
  void After(double seconds, std::function<void()> event) { At(now_ + seconds, std::move(event)); }

  // Runs all events up to `end`, and stands there then. Returns false, and stops, once more than
  // `most` events were added in all.
  bool RunUntil(double end, std::uint64_t most) {
    while (!queue_.empty() && queue_.top().time <= end) {
      if (next_ > most) return false;
      // The queue shows its first element only as const. It is removed at once.
      Event event = std::move(const_cast<Event&>(queue_.top()));
      queue_.pop();
      now_ = event.time;
      event.run();
    }
    now_ = end;
    return true;
  }

 private:
  struct Event {
    double time = 0;
    std::uint64_t number = 0;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };
  double now_ = 0;
  std::uint64_t next_ = 0;
  std::priority_queue<Event> queue_;
};

}  // namespace shoal::cli
