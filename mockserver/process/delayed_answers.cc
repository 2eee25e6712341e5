// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/delayed_answers.h"

namespace shoal::mockserver {

DelayedAnswers::DelayedAnswers(runtime::Clock& clock)
    : clock_(clock), thread_("delayed_answers", [this] { SendUntilStopped(); }) {}

DelayedAnswers::~DelayedAnswers() {
  Hasten();
  {
    const runtime::MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  thread_.Join();
}

void DelayedAnswers::Hasten() {
  std::multimap<runtime::TimePoint, Waiting> waiting;
  {
    const runtime::MutexLock lock(mutex_);
    hastens_ = true;
    waiting.swap(waiting_);
  }
  for (auto& [due, one] : waiting) one.first.Send(std::move(one.second));
}

http::ServerResponse DelayedAnswers::After(http::ServerResponse answer,
                                           std::chrono::milliseconds delay) {
  http::ServerResponse deferred;
  deferred.later = [this, due = clock_.Now() + delay,
                    answer = std::move(answer)](http::Responder responder) {
    Add(due, {std::move(responder), answer});
  };
  return deferred;
}

std::size_t DelayedAnswers::waiting() const {
  const runtime::MutexLock lock(mutex_);
  return waiting_.size();
}

void DelayedAnswers::Add(runtime::TimePoint due, Waiting waiting) {
  {
    const runtime::MutexLock lock(mutex_);
    if (!hastens_ && waiting_.size() < kMaximumWaiting) {
      waiting_.emplace(due, std::move(waiting));
      wake_.NotifyAll();
      return;
    }
  }
  waiting.first.Send(std::move(waiting.second));
}

void DelayedAnswers::SendUntilStopped() {
  while (true) {
    std::multimap<runtime::TimePoint, Waiting> due;
    {
      const runtime::MutexLock lock(mutex_);
      if (stopping_) return;
      if (waiting_.empty()) {
        wake_.Wait(mutex_);
      } else {
        clock_.WaitUntil(wake_, mutex_, waiting_.begin()->first);
      }
      if (stopping_) return;
      while (!waiting_.empty() && waiting_.begin()->first <= clock_.Now()) {
        due.insert(waiting_.extract(waiting_.begin()));
      }
    }
    for (auto& [time, one] : due) one.first.Send(std::move(one.second));
  }
}

}  // namespace shoal::mockserver
