// SPDX-License-Identifier: Apache-2.0
// What waits between those who write a streamed answer and the session that sends it.
//
// Thread-safe. Bounded by what waits and what is being sent together. Ends once: the writer closes
// it, it overflows, or the connection goes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "platform/runtime/mutex.h"

namespace shoal::http {

class StreamChannel {
 public:
  // `wake` is called, on a writer's thread, when Take would have something new to say.
  StreamChannel(std::size_t max_bytes, std::function<void()> wake);
  StreamChannel(const StreamChannel&) = delete;
  StreamChannel& operator=(const StreamChannel&) = delete;

  // False when closed, ended, or when `bytes` would overflow it; overflow closes it.
  bool Write(std::string_view bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // What waits is still taken.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);
  // `callback` runs once, when the channel has ended: on the thread that ends it, or here.
  void OnEnd(std::function<void()> callback) ABSL_LOCKS_EXCLUDED(mutex_);

  struct Taken {
    std::string bytes;
    // Nothing follows these bytes.
    bool closed = false;
  };
  // All that waits; it counts as being sent until the next Take.
  Taken Take() ABSL_LOCKS_EXCLUDED(mutex_);
  bool overflowed() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Nothing more can be sent. Idempotent.
  void End() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const std::size_t max_bytes_;
  const std::function<void()> wake_;

  mutable runtime::Mutex mutex_;
  std::string waiting_ ABSL_GUARDED_BY(mutex_);
  std::size_t sending_ ABSL_GUARDED_BY(mutex_) = 0;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool overflowed_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::http
