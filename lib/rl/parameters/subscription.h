// SPDX-License-Identifier: Apache-2.0
// The client's end of one Subscribe stream. It reads one part at a time and the next one only on
// request, so that HTTP/2 flow control holds the publisher back.
//
// Ownership: the object owns itself from Start to OnDone; the stub must outlive it. One thread
// works on it. `wake` runs on gRPC's threads when a part or the end has arrived, and never after
// AwaitEnd has returned; it must not call the subscription.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "platform/transport/status.h"
#include "proto/parameters.grpc.pb.h"

namespace shoal::parameters {

class Subscription final : public grpc::ClientReadReactor<proto::ParametersPart>,
                           public std::enable_shared_from_this<Subscription> {
 public:
  explicit Subscription(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Where the learner is away, the call waits until it is there. REQUIRES: held by a shared_ptr;
  // called once.
  void Start(proto::Parameters::Stub& stub, proto::SubscribeRequest request) {
    self_ = shared_from_this();
    request_ = std::move(request);
    context_.set_wait_for_ready(true);
    stub.async()->Subscribe(&context_, &request_, this);
    AddHold();
    StartRead(&part_);
    StartCall();
  }

  // Returns each received part once.
  std::optional<proto::ParametersPart> TakePart() ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    if (!ready_) return std::nullopt;
    ready_ = false;
    return std::move(part_);
  }
  // Requests the next part. REQUIRES: TakePart returned a part since the last call.
  void ReadNext() ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    if (!held_) return;
    part_.Clear();
    StartRead(&part_);
  }
  // Ends the stream soon.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_) {
    context_.TryCancel();
    const runtime::MutexLock lock(mutex_);
    ReleaseHold();
  }

  bool ended() const {
    const runtime::MutexLock lock(end_->mutex);
    return end_->status.has_value();
  }
  // Blocks until the stream has ended. Do not call it from a gRPC reaction.
  absl::Status AwaitEnd() {
    const std::shared_ptr<End> end = end_;
    const runtime::MutexLock lock(end->mutex);
    while (!end->status) end->changed.Wait(end->mutex);
    return *end->status;
  }

 private:
  void OnReadDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      const runtime::MutexLock lock(mutex_);
      if (ok) {
        ready_ = true;
      } else {
        ReleaseHold();
      }
    }
    if (ok) wake_();
  }
  void OnDone(const grpc::Status& status) override ABSL_LOCKS_EXCLUDED(mutex_) {
    const absl::Status converted = transport::FromGrpc(status);
    const std::shared_ptr<End> end = end_;
    const std::function<void()> wake = wake_;
    // The context holds the channel, which must not be destroyed in a reaction: when a waiter
    // learns of the end, only the waiter holds both.
    self_.reset();
    // This runs under the lock, since a thread that learns of the end may destroy what `wake` uses.
    const runtime::MutexLock lock(end->mutex);
    end->status = converted;
    end->changed.NotifyAll();
    wake();
  }
  void ReleaseHold() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!std::exchange(held_, false)) return;
    RemoveHold();
  }

  // It outlives the stream, which releases itself before waiters wake.
  struct End {
    runtime::Mutex mutex;
    runtime::CondVar changed;
    std::optional<absl::Status> status ABSL_GUARDED_BY(mutex);
  };

  const std::function<void()> wake_;
  grpc::ClientContext context_;
  proto::SubscribeRequest request_;
  proto::ParametersPart part_;
  std::shared_ptr<Subscription> self_;
  const std::shared_ptr<End> end_ = std::make_shared<End>();

  mutable runtime::Mutex mutex_;
  bool ready_ ABSL_GUARDED_BY(mutex_) = false;
  bool held_ ABSL_GUARDED_BY(mutex_) = true;
};

}  // namespace shoal::parameters
