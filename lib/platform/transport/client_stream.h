// SPDX-License-Identifier: Apache-2.0
// The client's end of one bidirectional stream: it has an outbox, delivers replies as they come,
// half-closes, and ends exactly once.
//
//   class PingStream final : public transport::ClientStream<proto::Ping, proto::Pong> {
//     void OnMessage(proto::Pong&& pong) override { ... }
//     void OnEnd(const absl::Status& status) override { ... }   // fail what is pending, once
//   };
//   auto stream = std::make_shared<PingStream>();
//   stream->Start([&](auto* context, auto* reactor) { stub->async()->Echo(context, reactor); });
//   stream->Send(ping);
//   stream->Close();                       // half-close once the outbox is empty
//   absl::Status end = stream->AwaitEnd();  // never in a reaction
//
// Lifetime: the stream owns itself from Start to OnDone. The stub and its channel belong to the
// caller, must outlive the stream and are dropped outside reactions. A stream that has ended is not
// used again: make a new one, after a pause, from a thread that is not gRPC's.
//
// In flight: at most one read and one write are in flight; gRPC owns the front of `outbox_` while
// writing_. The outbox has no bound of its own: the owner bounds what it sends (by its window, or
// by the credit of the protocol) and checks outbox_size(). Each stream has one mutex. Hooks run
// without it on gRPC's few threads and must not block.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "platform/transport/status.h"

namespace shoal::transport {

template <typename Request, typename Reply>
class ClientStream : public grpc::ClientBidiReactor<Request, Reply>,
                     public std::enable_shared_from_this<ClientStream<Request, Reply>> {
 public:
  using Begin = std::function<void(grpc::ClientContext*, grpc::ClientBidiReactor<Request, Reply>*)>;

  // Starts the RPC that `begin` binds. REQUIRES: a shared_ptr holds this object; Start is called
  // once, before anything else.
  void Start(const Begin& begin) ABSL_LOCKS_EXCLUDED(mutex_) {
    self_ = this->shared_from_this();
    begin(&context_, this);
    this->AddHold();
    this->StartRead(&reply_);
    this->StartCall();
  }

  // Queues a message, from any thread. Returns false and drops the message once the stream is
  // closing or broken.
  bool Send(Request&& request) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    if (closing_ || broken_) return false;
    outbox_.push_back(std::move(request));
    MaybeStartWrite();
    return true;
  }

  // Accepts no more messages, sends the queued ones, then half-closes; the server ends the stream.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    closing_ = true;
    MaybeHalfClose();
  }

  // Ends the stream now; OnEnd follows with CANCELLED.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_) {
    context_.TryCancel();
    const runtime::MutexLock lock(mutex_);
    BreakLocked();
  }

  // Blocks until OnEnd has returned and gRPC has released the stream, so that the channel may be
  // dropped next. Returns the stream's status. Never call it in a reaction.
  absl::Status AwaitEnd() {
    const std::shared_ptr<End> end = end_;
    const runtime::MutexLock lock(end->mutex);
    while (!end->reached) end->changed.Wait(end->mutex);
    return end->status;
  }
  // Returns false when the stream has not ended at `deadline`.
  bool AwaitEndUntil(runtime::TimePoint deadline) {
    const std::shared_ptr<End> end = end_;
    const runtime::MutexLock lock(end->mutex);
    while (!end->reached) {
      if (!end->changed.WaitUntil(end->mutex, deadline)) break;
    }
    return end->reached;
  }

  std::size_t outbox_size() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return outbox_.size();
  }

 protected:
  // Handles one message. Calls never overlap.
  virtual void OnMessage(Reply&& reply) = 0;
  // Called when a message has left the outbox.
  virtual void OnWritable() {}
  // Called once and last, whatever happened. OK means that the server ended an orderly stream.
  virtual void OnEnd(const absl::Status& status) = 0;

 private:
  // The end outlives the stream, which releases itself before waiters wake.
  struct End {
    runtime::Mutex mutex;
    runtime::CondVar changed;
    bool reached ABSL_GUARDED_BY(mutex) = false;
    absl::Status status ABSL_GUARDED_BY(mutex);
  };

  void OnReadDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_) {
    if (!ok) {
      const runtime::MutexLock lock(mutex_);
      BreakLocked();
      return;
    }
    Reply message = std::move(reply_);
    reply_.Clear();
    OnMessage(std::move(message));
    this->StartRead(&reply_);
  }

  void OnWriteDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      const runtime::MutexLock lock(mutex_);
      writing_ = false;
      if (!ok) {
        BreakLocked();
        return;
      }
      outbox_.pop_front();
      MaybeStartWrite();
      MaybeHalfClose();
    }
    OnWritable();
  }

  void OnDone(const grpc::Status& status) final ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::Status converted = FromGrpc(status);
    {
      const runtime::MutexLock lock(mutex_);
      broken_ = true;
    }
    OnEnd(converted);
    const std::shared_ptr<End> end = end_;
    self_.reset();
    const runtime::MutexLock lock(end->mutex);
    end->status = converted;
    end->reached = true;
    end->changed.NotifyAll();
  }

  void MaybeStartWrite() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || broken_ || half_closed_ || outbox_.empty()) return;
    writing_ = true;
    this->StartWrite(&outbox_.front());
  }

  void MaybeHalfClose() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!closing_ || half_closed_ || broken_ || writing_ || !outbox_.empty()) return;
    half_closed_ = true;
    this->StartWritesDone();
    ReleaseHold();
  }

  void BreakLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    broken_ = true;
    ReleaseHold();
  }

  void ReleaseHold() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!held_) return;
    held_ = false;
    this->RemoveHold();
  }

  grpc::ClientContext context_;
  Reply reply_;
  std::shared_ptr<ClientStream> self_;
  const std::shared_ptr<End> end_ = std::make_shared<End>();

  mutable runtime::Mutex mutex_;
  std::deque<Request> outbox_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool held_ ABSL_GUARDED_BY(mutex_) = true;
};

}  // namespace shoal::transport
