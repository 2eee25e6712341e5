// SPDX-License-Identifier: Apache-2.0
// One Act stream and the inbox where its replies wait for the client's thread.
//
// gRPC's threads only move messages into the inbox. A server that sends more than anybody asked for
// has its stream cancelled before the inbox grows past kMaxReplies.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "platform/transport/client_stream.h"
#include "proto/act.grpc.pb.h"

namespace shoal::inference::client {

// Thread-safe. Outlives the streams that put into it.
class ActInbox {
 public:
  static constexpr std::size_t kMaxReplies = 4096;

  struct Events {
    std::deque<proto::ActReply> replies;
    // The stream's last word.
    std::optional<absl::Status> end;
    bool stopping = false;
  };

  // False when full.
  bool PutReply(proto::ActReply&& reply) ABSL_LOCKS_EXCLUDED(mutex_);
  void PutEnd(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes this and every later Await return with `stopping`.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes what is there; waits for something until `deadline`.
  Events Await(runtime::Clock& clock, runtime::TimePoint deadline) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  Events events_ ABSL_GUARDED_BY(mutex_);
};

class ActStream final : public transport::ClientStream<proto::ActRequest, proto::ActReply> {
 public:
  explicit ActStream(ActInbox& inbox) : inbox_(inbox) {}

 private:
  void OnMessage(proto::ActReply&& reply) override {
    if (!inbox_.PutReply(std::move(reply))) Cancel();
  }
  void OnEnd(const absl::Status& status) override { inbox_.PutEnd(status); }

  ActInbox& inbox_;
};

}  // namespace shoal::inference::client
