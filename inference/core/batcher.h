// SPDX-License-Identifier: Apache-2.0
// The second of two batching stages: rows whose contents are embedded wait here for a forward pass.
//
// A batch is due when `max_rows` rows wait or the oldest row has waited for `max_delay`, but never
// while the batcher is paused. Rows leave in order of arrival. The queue is bounded, and rows that
// do not fit stay with the caller. Thread-safe, except that only one thread may call Take. Wake,
// Drain and Close make a waiting Take return.
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
  // With 0 a batch holds whatever waits when its acting thread is free.
  runtime::Duration max_delay = std::chrono::microseconds(200);
  std::size_t max_queued = 65536;
};

class Batcher {
 public:
  struct Batch {
    std::vector<Row> rows;
    // Rows whose deadline passed while they waited.
    std::vector<Row> expired;
    // True if Wake was called since the last batch.
    bool woken = false;
    // True after Drain or Close: the batcher takes no more rows.
    bool draining = false;
    // True when the batcher drains and no batch will follow.
    bool ended = false;
  };

  // The batcher starts paused. `clock` must outlive it.
  explicit Batcher(const BatcherOptions& options, runtime::Clock& clock = runtime::SystemClock())
      : options_(options), clock_(clock) {}

  // Takes rows from the front of `rows` while there is room. Rejected rows stay in `rows`.
  void Add(std::vector<Row>& rows) ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until a batch is due, Wake is called (the batch may then be empty) or the batcher ends.
  Batch Take() ABSL_LOCKS_EXCLUDED(mutex_);

  void SetPaused(bool paused) ABSL_LOCKS_EXCLUDED(mutex_);
  void Wake() ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes no more rows. Take returns the waiting ones without delay until none is left.
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes no more rows and drops the waiting ones.
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
