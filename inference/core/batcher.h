// SPDX-License-Identifier: Apache-2.0
// The second of two batching stages: rows whose contents are embedded wait here for a forward pass.
//
// A batch is due when `max_rows` wait, or `max_delay` after its oldest row came, and never while
// paused. Rows leave in the order they came. Bounded: what does not fit stays with the caller.
// Thread-safe; Take is for one thread. Wake, Drain and Close make a waiting Take return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "inference/core/row_block.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"

namespace shoal::inference {

struct BatcherOptions {
  // At least 1.
  std::size_t max_rows = 256;
  // 0: whatever is there when the thread is free.
  runtime::Duration max_delay = std::chrono::microseconds(200);
  std::size_t max_queued = 65536;
};

class Batcher {
 public:
  struct Batch {
    std::vector<Row> rows;
    // Their time ran out while they waited.
    std::vector<Row> expired;
    // Someone called Wake.
    bool woken = false;
    // No more rows are taken in.
    bool draining = false;
    // Nothing will come any more.
    bool ended = false;
  };

  // Starts paused. `clock` outlives the batcher.
  explicit Batcher(const BatcherOptions& options, runtime::Clock& clock = runtime::SystemClock())
      : options_(options), clock_(clock) {}

  // Takes rows from the front of `rows` while there is room; what is left stays.
  void Add(std::vector<Row>& rows) ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until a batch is due, someone woke it (the batch may then be empty), or the end.
  Batch Take() ABSL_LOCKS_EXCLUDED(mutex_);

  void SetPaused(bool paused) ABSL_LOCKS_EXCLUDED(mutex_);
  void Wake() ABSL_LOCKS_EXCLUDED(mutex_);
  // No more rows; Take goes on until none is left, without delay.
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);
  // No more rows, and what waits is dropped.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);
  bool paused() const ABSL_LOCKS_EXCLUDED(mutex_);
  std::uint64_t rejected_total() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Waiting {
    Row row;
    runtime::TimePoint since;
  };

  // Waits until Take must return.
  void AwaitLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const BatcherOptions options_;
  runtime::Clock& clock_;

  mutable runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::deque<Waiting> queue_ ABSL_GUARDED_BY(mutex_);
  bool paused_ ABSL_GUARDED_BY(mutex_) = true;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t rejected_total_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace shoal::inference
