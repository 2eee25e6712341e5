// SPDX-License-Identifier: Apache-2.0
// The client's end of one Subscribe stream: one part at a time, the next one when asked for, so
// that HTTP/2 holds the publisher's writes back meanwhile.
//
// Life: owns itself from Start to OnDone; the stub outlives it. For one thread that works on it;
// `wake` runs on gRPC's threads when there is a part or the end, and never after AwaitEnd has
// returned; it must not ask the subscription anything.
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

  // REQUIRES: held by a shared_ptr; called once.
  void Start(proto::Parameters::Stub& stub, proto::SubscribeRequest request) {
    self_ = shared_from_this();
    request_ = std::move(request);
    stub.async()->Subscribe(&context_, &request_, this);
    AddHold();
    StartRead(&part_);
    StartCall();
  }

  // The part that came, once.
  std::optional<proto::ParametersPart> TakePart() ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    if (!ready_) return std::nullopt;
    ready_ = false;
    return std::move(part_);
  }
  // REQUIRES: TakePart gave one since the last call.
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
  // Blocks; never in a reaction.
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
    // The context holds the channel, which must not go in a reaction: by the time a waiter hears of
    // the end, it alone has both.
    self_.reset();
    // Within the lock: who has heard of the end may drop what `wake` reaches.
    const runtime::MutexLock lock(end->mutex);
    end->status = converted;
    end->changed.NotifyAll();
    wake();
  }
  void ReleaseHold() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!std::exchange(held_, false)) return;
    RemoveHold();
  }

  // Outlives the stream, which drops itself before waiters wake.
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
