// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/overlapped_sums.h"

#include <utility>

#include "platform/runtime/check.h"

namespace shoal::collectives {

OverlappedSums::OverlappedSums(std::size_t units, std::size_t parts, Calls calls)
    : calls_(std::move(calls)), units_(units, Unit{.missing = parts}) {
  SHOAL_CHECK(parts > 0);
  thread_ = runtime::Thread("gradient sums", [this] { Run(); });
}

OverlappedSums::~OverlappedSums() {
  {
    const runtime::MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  thread_.Join();
}

void OverlappedSums::Add(std::size_t unit) {
  {
    const runtime::MutexLock lock(mutex_);
    SHOAL_CHECK(units_[unit].missing > 0);
    if (--units_[unit].missing > 0) return;
  }
  calls_.collect(unit);
  MarkCollected(unit);
}

void OverlappedSums::MarkCollected(std::size_t unit) {
  const runtime::MutexLock lock(mutex_);
  units_[unit].collected = true;
  changed_.NotifyAll();
}

absl::Status OverlappedSums::Finish() {
  std::vector<std::size_t> missing;
  {
    const runtime::MutexLock lock(mutex_);
    finish_began_ = std::chrono::steady_clock::now();
    for (std::size_t unit = units_.size(); unit-- > 0;) {
      if (units_[unit].missing == 0) continue;
      units_[unit].missing = 0;
      missing.push_back(unit);
    }
  }
  for (const std::size_t unit : missing) {
    calls_.collect(unit);
    MarkCollected(unit);
  }
  thread_.Join();
  const runtime::MutexLock lock(mutex_);
  return result_;
}

double OverlappedSums::overlapped_seconds() const {
  const runtime::MutexLock lock(mutex_);
  return overlapped_seconds_;
}

bool OverlappedSums::AwaitCollected(std::size_t unit) {
  const runtime::MutexLock lock(mutex_);
  while (!units_[unit].collected && !stopped_) changed_.Wait(mutex_);
  return !stopped_;
}

void OverlappedSums::Run() {
  std::size_t unit = 0;
  {
    const runtime::MutexLock lock(mutex_);
    unit = units_.size();
  }
  while (unit-- > 0 && AwaitCollected(unit)) {
    const Time began = std::chrono::steady_clock::now();
    const double before = calls_.seconds();
    const absl::Status summed = calls_.sum(unit);
    const double within = calls_.seconds() - before;
    const Time ended = std::chrono::steady_clock::now();
    const runtime::MutexLock lock(mutex_);
    result_.Update(summed);
    if (!finish_began_ || *finish_began_ >= ended) {
      overlapped_seconds_ += within;
    } else if (began < *finish_began_) {
      overlapped_seconds_ += within *
                             std::chrono::duration<double>(*finish_began_ - began).count() /
                             std::chrono::duration<double>(ended - began).count();
    }
  }
}

}  // namespace shoal::collectives
