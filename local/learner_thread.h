// SPDX-License-Identifier: Apache-2.0
// The only rank of a learner, on a thread of its own from its first file to its last checkpoint.
//
// Thread-safe. The destructor stops training and waits for the thread, also for a learner that is
// still starting.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "learner/learner.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "platform/runtime/thread.h"

namespace shoal::local {

class LearnerThread {
 public:
  // Called once, from the thread. The status says why training ended; it is OK after Stop and when
  // learner.updates are done. `digest` is that of the finished parameters, and empty otherwise.
  using OnEnd = std::function<void(const absl::Status& status, const std::string& digest)>;

  LearnerThread(const learner::LearnerSetup& setup, OnEnd on_end);
  ~LearnerThread();
  LearnerThread(const LearnerThread&) = delete;
  LearnerThread& operator=(const LearnerThread&) = delete;

  // Lets the update in progress be the last one, and waits until the checkpoint is written. Returns
  // false, without waiting, when the learner is still starting (it may clone demonstrations for
  // minutes); it then ends as soon as it has started.
  bool Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  enum class State { kStarting, kRunning, kEnded };

  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns how training ended, and sets the digest of finished parameters.
  absl::Status Train(std::string& digest) ABSL_LOCKS_EXCLUDED(mutex_);

  const learner::LearnerSetup setup_;
  const OnEnd on_end_;
  runtime::Mutex mutex_;
  runtime::CondVar ended_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kStarting;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<learner::Learner> learner_ ABSL_GUARDED_BY(mutex_);
  runtime::Thread thread_;
};

}  // namespace shoal::local
