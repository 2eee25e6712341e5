// SPDX-License-Identifier: Apache-2.0
// Reads the payloads and chunks that sampled batches lack from disk, on threads of its own, so that
// batches can be fetched ahead of their turn. What one batch lacks is read at the same time, what
// lies side by side together, and batches in the order in which they came.
//
// Thread-safe. Its queue holds what the callers give it: a sampling stream has a bounded number of
// batches that wait. The destructor drops what no thread has begun to read, without calling `done`.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "platform/runtime/mutex.h"
#include "platform/runtime/thread.h"
#include "replay/shard.h"

namespace shoal::replay {

class BatchReader {
 public:
  // With 0 threads nothing is read.
  explicit BatchReader(std::size_t threads);
  ~BatchReader();

  // Calls ReadParts for all parts of `batch`, and then `done`, from a thread of this object
  // and without a lock. Nobody else may use the batch until then. REQUIRES: the batch has a sample.
  void Read(std::shared_ptr<SampleBatch> batch, std::function<void()> done)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Reading {
    std::shared_ptr<SampleBatch> batch;
    std::function<void()> done;
    // The first part that no thread has begun, and how many are not finished.
    std::size_t next = 0;
    std::size_t left = 0;
  };

  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  // Those with parts that no thread has begun.
  std::deque<std::shared_ptr<Reading>> queue_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<runtime::Thread> threads_;
};

}  // namespace shoal::replay
