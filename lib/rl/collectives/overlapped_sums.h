// SPDX-License-Identifier: Apache-2.0
// Sums of gradients over the ranks that begin while the backward pass still runs.
//
//   OverlappedSums sums(units, parts, {.collect = ..., .sum = ...});
//   ...                                  // the pass calls sums.Add(unit) as gradients are complete
//   SHOAL_RETURN_IF_ERROR(sums.Finish());
//
// Gradients come in units, each of which is summed in one collective call, and those of a unit in
// equally many parts, one for each thread of the pass. A thread of this object makes the calls,
// from the last unit to the first one, which is the order in which a backward pass completes them.
// A unit is summed as soon as its parts are there and the units after it have been summed. So the
// order of calls is the same on all ranks, whatever is complete first, and on a rank without data.
// No more sums can wait than there are units.
//
// Add may be called by any thread, the others by one. Until Finish has returned or this is
// destroyed, nobody else may make calls of the same group.
#pragma once

#include <absl/base/thread_annotations.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "platform/runtime/thread.h"

namespace shoal::collectives {

class OverlappedSums {
 public:
  struct Calls {
    // Called once for each unit when all its parts are there, by the thread that brought the last
    // one or by Finish. It adds up what the threads of the pass have.
    std::function<void(std::size_t unit)> collect;
    // Called after that by the thread of this object: adds up over the ranks.
    std::function<absl::Status(std::size_t unit)> sum;
    // Returns the time within collective calls until now. The thread that sums asks.
    std::function<double()> seconds = [] { return 0.0; };
  };

  // REQUIRES: parts > 0. What the calls refer to outlives this.
  OverlappedSums(std::size_t units, std::size_t parts, Calls calls);
  // Waits for the call that runs, and makes no other one. Where Finish has not been called, as
  // after an exception of the pass, this rank is then behind the others and has to abort.
  ~OverlappedSums();

  // Another part of the unit is complete.
  void Add(std::size_t unit);
  // Takes all parts that are still missing as complete, and waits for all sums. Returns the first
  // error. After an error the other sums are made too: they return it again, and all units are
  // treated alike.
  absl::Status Finish();
  // The time within collective calls before Finish was called; of a sum that ran then, in
  // proportion to its time.
  double overlapped_seconds() const;

 private:
  using Time = std::chrono::steady_clock::time_point;

  struct Unit {
    std::size_t missing = 0;
    bool collected = false;
  };

  void Run();
  // Returns whether the unit may be summed; waits until it may, or is never to be.
  bool AwaitCollected(std::size_t unit);
  void MarkCollected(std::size_t unit);

  const Calls calls_;
  mutable runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::vector<Unit> units_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<Time> finish_began_ ABSL_GUARDED_BY(mutex_);
  absl::Status result_ ABSL_GUARDED_BY(mutex_);
  double overlapped_seconds_ ABSL_GUARDED_BY(mutex_) = 0;
  runtime::Thread thread_;
};

}  // namespace shoal::collectives
