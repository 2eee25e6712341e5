// SPDX-License-Identifier: Apache-2.0
// The live streams of one service, so that shutdown can drain them and wait for the last.
//
// Thread-safe. The registry must outlive the gRPC server, whose Shutdown returns after the last
// OnDone.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"

namespace shoal::transport {

class LiveStream {
 public:
  virtual ~LiveStream() = default;
  // Stops reading, answers the messages in flight, then ends with UNAVAILABLE "draining".
  virtual void Drain() = 0;
};

class StreamRegistry {
 public:
  // Returns false once the registry is draining; the stream must then end itself.
  bool Add(std::shared_ptr<LiveStream> stream) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(const LiveStream* stream) ABSL_LOCKS_EXCLUDED(mutex_);

  // Drains every live stream and refuses new ones.
  void DrainAll() ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until no stream is left; returns false when some are left after `grace`.
  bool AwaitEmpty(runtime::Duration grace, runtime::Clock& clock = runtime::SystemClock())
      ABSL_LOCKS_EXCLUDED(mutex_);

  std::size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable runtime::Mutex mutex_;
  runtime::CondVar empty_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  std::unordered_map<const LiveStream*, std::weak_ptr<LiveStream>> live_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::transport
