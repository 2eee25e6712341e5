// SPDX-License-Identifier: Apache-2.0
// The server's end of one bidirectional stream: it reads with a window, has an outbox, drains, and
// calls Finish exactly once.
//
//   class EchoStream final : public transport::ServerStream<proto::Ping, proto::Pong> {
//     void OnMessage(proto::Ping&& ping) override { Send(PongFor(ping)); Release(); }
//   };
//   Echo(grpc::CallbackServerContext*): return std::make_shared<EchoStream>(...)->Start();
//
// Lifetime: the stream owns itself from Start to OnDone; code that works on a message must hold
// shared_from_this() too. A derived destructor must touch nothing outside the object.
//
// Window: a message counts as in flight from OnMessage until the derived class calls Release() for
// it (from any thread, after its last Send). Reading pauses while in flight + outbox >= window, so
// HTTP/2 flow control holds the client's writes back. Send no more than a few replies for one
// message.
//
// Ownership: gRPC owns `request_` while reading_ and the front of `outbox_` while writing_. Each
// stream has one mutex. Hooks run without it on gRPC's few threads and must not block.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "platform/transport/status.h"
#include "platform/transport/stream_registry.h"

namespace shoal::transport {

struct ServerStreamOptions {
  // Reading pauses at this many messages in flight and queued replies together; at least 1.
  std::size_t window = 16;
};

template <typename Request, typename Reply>
class ServerStream : public grpc::ServerBidiReactor<Request, Reply>,
                     public LiveStream,
                     public std::enable_shared_from_this<ServerStream<Request, Reply>> {
 public:
  // `registry` must outlive the stream.
  ServerStream(const ServerStreamOptions& options, StreamRegistry& registry)
      : options_(options), registry_(registry) {}

  // REQUIRES: a shared_ptr holds this object; Start is called once.
  grpc::ServerBidiReactor<Request, Reply>* Start() ABSL_LOCKS_EXCLUDED(mutex_) {
    self_ = this->shared_from_this();
    if (!registry_.Add(self_)) {
      Fail(runtime::Unavailable("draining"));
      return this;
    }
    const runtime::MutexLock lock(mutex_);
    MaybeStartRead();
    return this;
  }

  // Queues a reply, from any thread. The reply is dropped when the stream is ending.
  void Send(Reply&& reply) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    if (Ending()) return;
    outbox_.push_back(std::move(reply));
    MaybeStartWrite();
  }

  // Says that one message is answered and frees its place in the window. Call it once for each
  // message, from any thread.
  void Release() ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    --in_flight_;
    Advance();
  }

  // Ends the stream with `status`, from any thread; queued replies are dropped. Only the first call
  // takes effect.
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    FailLocked(status);
  }

  void Drain() override ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    draining_ = true;
    MaybeFinish();
  }

  std::size_t outbox_size() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return outbox_.size();
  }
  // Returns true once replies are dropped.
  bool ending() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return Ending() || draining_;
  }

 protected:
  // Handles one message. Calls never overlap. The class must call Release() for the message.
  virtual void OnMessage(Request&& request) = 0;
  // Called when a reply has left and the outbox has room.
  virtual void OnWritable() {}
  // Called once, when the stream is over and every other hook has begun.
  virtual void OnEnd() {}

 private:
  void OnReadDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_) {
    Request message;
    {
      const runtime::MutexLock lock(mutex_);
      if (!ok || Ending()) {
        reading_ = false;
        half_closed_ = half_closed_ || !ok;
        MaybeFinish();
        return;
      }
      ++in_flight_;
      message = std::move(request_);
      request_.Clear();
    }
    OnMessage(std::move(message));
    const runtime::MutexLock lock(mutex_);
    reading_ = false;  // only now: a write done meanwhile must not start the next read
    Advance();
  }

  void OnWriteDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      const runtime::MutexLock lock(mutex_);
      writing_ = false;
      if (!ok) {
        FailLocked(runtime::Unavailable("the peer is gone"));
        return;
      }
      outbox_.pop_front();
      Advance();
      if (Ending()) return;
    }
    OnWritable();
  }

  void OnCancel() final { Fail(runtime::Cancelled("the peer cancelled the stream")); }

  void OnDone() final {
    OnEnd();
    const auto self = std::move(self_);
    registry_.Remove(this);
  }

  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    MaybeStartWrite();
    MaybeStartRead();
    MaybeFinish();
  }

  void MaybeStartRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (reading_ || half_closed_ || draining_ || Ending()) return;
    if (in_flight_ + outbox_.size() >= options_.window) return;
    reading_ = true;
    this->StartRead(&request_);
  }

  void MaybeStartWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || Ending() || outbox_.empty()) return;
    writing_ = true;
    this->StartWrite(&outbox_.front());
  }

  // Finish waits for the write in flight.
  void MaybeFinish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (finished_ || writing_) return;
    const bool over = (half_closed_ || draining_) && in_flight_ == 0 && outbox_.empty();
    if (failure_.ok() && !over) return;
    if (failure_.ok() && !half_closed_) failure_ = runtime::Unavailable("draining");
    finished_ = true;
    this->Finish(ToGrpc(failure_));
  }

  void FailLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (failure_.ok()) failure_ = status;
    MaybeFinish();
  }

  bool Ending() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return finished_ || !failure_.ok(); }

  const ServerStreamOptions options_;
  StreamRegistry& registry_;
  Request request_;
  std::shared_ptr<ServerStream> self_;

  mutable runtime::Mutex mutex_;
  std::deque<Reply> outbox_ ABSL_GUARDED_BY(mutex_);
  std::size_t in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::transport
