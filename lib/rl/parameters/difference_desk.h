// SPDX-License-Identifier: Apache-2.0
// Makes differences between published versions on a thread of its own, each once for all who ask
// for it while it is among the last ones.
//
// Orders keep the files that they are between, so memory holds those of the last orders too.
// Thread-safe. The destructor finishes the difference that is being made and drops the others.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "platform/runtime/metrics.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/thread.h"
#include "rl/parameters/parameters_file.h"

namespace shoal::parameters {

// One difference that was asked for. The desk alone changes it.
struct DifferenceOrder {
  ParametersPointer base;
  ParametersPointer target;
  bool done = false;
  // Null while it is not done, and where the difference cannot be made or is not smaller than the
  // file of `target`.
  std::shared_ptr<const std::string> difference = nullptr;
};

class DifferenceDesk {
 public:
  // Beyond so many orders that are not done, more are refused.
  static constexpr std::size_t kMostWaiting = 64;
  // How many orders are remembered, done or not, for others who ask for the same.
  static constexpr std::size_t kRemembered = 4;

  // `on_done` runs on the desk's thread after each order. `metrics` must outlive the desk.
  DifferenceDesk(std::function<void()> on_done, runtime::Metrics& metrics);
  ~DifferenceDesk();

  // Returns an order for the difference of `target` from `base`, or null when too many wait.
  std::shared_ptr<const DifferenceOrder> Ask(const ParametersPointer& base,
                                             const ParametersPointer& target)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the order as it stands.
  DifferenceOrder Look(const DifferenceOrder& order) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  const std::function<void()> on_done_;
  prometheus::Counter& made_;

  mutable runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::deque<std::shared_ptr<DifferenceOrder>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<DifferenceOrder>> remembered_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  runtime::Thread thread_;
};

}  // namespace shoal::parameters
