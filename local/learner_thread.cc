// SPDX-License-Identifier: Apache-2.0
#include "local/learner_thread.h"

#include <utility>

#include "rl/collectives/gradient_reducer.h"

namespace shoal::local {

LearnerThread::LearnerThread(const learner::LearnerSetup& setup, OnEnd on_end)
    : setup_(setup), on_end_(std::move(on_end)), thread_("learner", [this] { Run(); }) {}

LearnerThread::~LearnerThread() {
  Stop();
  thread_.Join();
}

void LearnerThread::Run() {
  std::string digest;
  const absl::Status end = Train(digest);
  on_end_(end, digest);
  const runtime::MutexLock lock(mutex_);
  state_ = State::kEnded;
  ended_.NotifyAll();
}

absl::Status LearnerThread::Train(std::string& digest) {
  SHOAL_ASSIGN_OR_RETURN(
      auto created, learner::Learner::Create(setup_, std::make_unique<collectives::SingleRank>()));
  learner::Learner& learner = *created;
  {
    const runtime::MutexLock lock(mutex_);
    learner_ = std::move(created);
    state_ = State::kRunning;
    if (stopping_) learner.Stop();
  }
  SHOAL_RETURN_IF_ERROR(learner.Run());
  if (learner.finished()) digest = learner.Digest();
  return absl::OkStatus();
}

bool LearnerThread::Stop() {
  const runtime::MutexLock lock(mutex_);
  stopping_ = true;
  if (state_ == State::kStarting) return false;
  if (learner_ != nullptr) learner_->Stop();
  while (state_ != State::kEnded) ended_.Wait(mutex_);
  return true;
}

}  // namespace shoal::local
