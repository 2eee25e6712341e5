// SPDX-License-Identifier: Apache-2.0
// Answers that a service has given and that reach their client later.
//
//   return delayed.After(std::move(answer), std::chrono::milliseconds(300));
//
// The class has a thread of its own. At most kMaximumWaiting answers wait. Further answers are sent
// at once, and so are the waiting ones when the service stops. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <utility>

#include "platform/http/message.h"
#include "platform/http/responder.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/thread.h"

namespace shoal::mockserver {

class DelayedAnswers {
 public:
  static constexpr std::size_t kMaximumWaiting = 16'384;

  // `clock` must outlive this object.
  explicit DelayedAnswers(runtime::Clock& clock);
  ~DelayedAnswers();
  DelayedAnswers(const DelayedAnswers&) = delete;
  DelayedAnswers& operator=(const DelayedAnswers&) = delete;

  // Returns a deferred response that sends `answer` when the clock has moved by `delay`. This
  // object must outlive it.
  http::ServerResponse After(http::ServerResponse answer, std::chrono::milliseconds delay);

  // Sends all waiting answers at once, and from now on every answer. Call it before servers drain.
  void Hasten() ABSL_LOCKS_EXCLUDED(mutex_);

  std::size_t waiting() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Waiting = std::pair<http::Responder, http::ServerResponse>;

  void Add(runtime::TimePoint due, Waiting waiting) ABSL_LOCKS_EXCLUDED(mutex_);
  void SendUntilStopped() ABSL_LOCKS_EXCLUDED(mutex_);

  runtime::Clock& clock_;
  mutable runtime::Mutex mutex_;
  runtime::CondVar wake_;
  std::multimap<runtime::TimePoint, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool hastens_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  // The last member, because the thread uses those above.
  runtime::Thread thread_;
};

}  // namespace shoal::mockserver
