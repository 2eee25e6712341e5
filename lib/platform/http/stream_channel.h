// SPDX-License-Identifier: Apache-2.0
// The buffer between the writers of a streamed answer and the session that sends it.
//
// Thread-safe. The bound covers both the waiting bytes and those being sent. The channel ends once:
// when the writer closes it, it overflows, or the connection goes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "platform/runtime/mutex.h"

namespace shoal::http {

class StreamChannel {
 public:
  // `wake` is called, on a writer's thread, when Take would return something new.
  StreamChannel(std::size_t max_bytes, std::function<void()> wake);
  StreamChannel(const StreamChannel&) = delete;
  StreamChannel& operator=(const StreamChannel&) = delete;

  // Returns false when the channel is closed or ended, or when `bytes` would overflow it. Overflow
  // closes it.
  bool Write(std::string_view bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // Accepts no more bytes; the waiting bytes are still sent.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);
  // Calls `callback` once, when the channel has ended: on the thread that ends it, or here when it
  // has ended already.
  void OnEnd(std::function<void()> callback) ABSL_LOCKS_EXCLUDED(mutex_);

  struct Taken {
    std::string bytes;
    // True when no bytes follow these.
    bool closed = false;
  };
  // Takes all waiting bytes; they count as being sent until the next Take.
  Taken Take() ABSL_LOCKS_EXCLUDED(mutex_);
  bool overflowed() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the channel: nothing more can be sent. Idempotent.
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

// The writing end of a streamed answer, such as server-sent events. ServerResponse::stream receives
// it.
//
// Thread-safe and copyable; copies write to the same answer. The answer ends well when one calls
// Close, the last copy is destroyed, or the server drains. It is cut short when the peer closes its
// end, even if only for sending, takes longer over one piece than the request deadline, or reads so
// slowly that more than ServerOptions::max_stream_bytes would wait. Calls never block.
class StreamChannel;

class StreamWriter {
 public:
  explicit StreamWriter(std::shared_ptr<StreamChannel> channel);

  // Returns false when the answer has ended, or when this call ends it because too many bytes wait.
  bool Write(std::string_view bytes) const;
  void Close() const;
  // Calls `callback` once, without locks, when the answer has ended for any reason: on a thread of
  // the server, or at once when it has ended already. A later callback replaces an earlier one. The
  // callback may hold a copy of this object.
  void OnClosed(std::function<void()> callback) const;

 private:
  // The last copy closes the channel when it is destroyed.
  std::shared_ptr<StreamChannel> channel_;
};

}  // namespace shoal::http
