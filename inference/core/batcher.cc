// SPDX-License-Identifier: Apache-2.0
#include "inference/core/batcher.h"

#include <algorithm>
#include <utility>

namespace shoal::inference {

void Batcher::Add(std::vector<Row>& rows) {
  const runtime::TimePoint now = clock_.Now();
  const runtime::MutexLock lock(mutex_);
  const std::size_t room =
      ending_ ? 0 : options_.max_queued - std::min(options_.max_queued, queue_.size());
  const std::size_t taken = std::min(room, rows.size());
  for (std::size_t i = 0; i < taken; ++i) queue_.push_back({std::move(rows[i]), now});
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(taken));
  rejected_total_ += rows.size();
  if (!queue_.empty()) changed_.NotifyOne();
}

void Batcher::AwaitLocked() {
  while (!ending_ && !woken_) {
    if (paused_ || queue_.empty()) {
      changed_.Wait(mutex_);
      continue;
    }
    if (queue_.size() >= options_.max_rows) return;
    const runtime::TimePoint due = queue_.front().since + options_.max_delay;
    if (clock_.Now() >= due) return;
    clock_.WaitUntil(changed_, mutex_, due);
  }
}

Batcher::Batch Batcher::Take() {
  const runtime::MutexLock lock(mutex_);
  AwaitLocked();
  Batch batch;
  const bool due =
      !queue_.empty() &&
      (ending_ || (!paused_ && (queue_.size() >= options_.max_rows ||
                                clock_.Now() >= queue_.front().since + options_.max_delay)));
  batch.woken = std::exchange(woken_, false);
  batch.draining = ending_;
  if (due) {
    const runtime::TimePoint now = clock_.Now();
    batch.rows.reserve(std::min(queue_.size(), options_.max_rows));
    while (!queue_.empty() && batch.rows.size() < options_.max_rows) {
      Row& row = queue_.front().row;
      (row.block->deadline < now ? batch.expired : batch.rows).push_back(std::move(row));
      queue_.pop_front();
    }
  }
  batch.ended = ending_ && queue_.empty() && batch.rows.empty() && batch.expired.empty();
  return batch;
}

void Batcher::SetPaused(bool paused) {
  const runtime::MutexLock lock(mutex_);
  paused_ = paused;
  changed_.NotifyOne();
}

void Batcher::Wake() {
  const runtime::MutexLock lock(mutex_);
  woken_ = true;
  changed_.NotifyOne();
}

void Batcher::Drain() {
  const runtime::MutexLock lock(mutex_);
  ending_ = true;
  changed_.NotifyOne();
}

void Batcher::Close() {
  std::deque<Waiting> dropped;
  const runtime::MutexLock lock(mutex_);
  ending_ = true;
  queue_.swap(dropped);
  changed_.NotifyOne();
}

std::size_t Batcher::size() const {
  const runtime::MutexLock lock(mutex_);
  return queue_.size();
}

bool Batcher::paused() const {
  const runtime::MutexLock lock(mutex_);
  return paused_;
}

std::uint64_t Batcher::rejected_total() const {
  const runtime::MutexLock lock(mutex_);
  return rejected_total_;
}

}  // namespace shoal::inference
