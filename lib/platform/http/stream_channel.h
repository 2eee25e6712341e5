// SPDX-License-Identifier: Apache-2.0
// What waits between those who write a streamed answer and the session that sends it.
//
// Thread-safe. Bounded by what waits and what is being sent together. Ends once: the writer closes
// it, it overflows, or the connection goes.
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

// The writing end of a streamed answer, server-sent events say: what ServerResponse::stream is
// given.
//
// Thread-safe, copyable; copies write to the same answer, which ends well when one calls Close, the
// last copy goes, or the server drains. It is cut short when the peer goes (closes its end, be it
// only for sending), takes longer over one piece than the request deadline, or reads so slowly that
// more than ServerOptions::max_stream_bytes would wait. Calls never block.
class StreamChannel;

class StreamWriter {
 public:
  explicit StreamWriter(std::shared_ptr<StreamChannel> channel);

  // False when the answer has ended, or ends by this call because too much waits.
  bool Write(std::string_view bytes) const;
  void Close() const;
  // `callback` runs once, without locks, when the answer has ended, however it did: on a thread of
  // the server, or at once when it has ended already. A second one takes the first one's place.
  // It may hold a copy of this.
  void OnClosed(std::function<void()> callback) const;

 private:
  // Closes the channel with the last copy.
  std::shared_ptr<StreamChannel> channel_;
};

}  // namespace shoal::http
