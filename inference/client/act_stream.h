// SPDX-License-Identifier: Apache-2.0
// One Act stream, and the inbox where its replies wait for the client's thread.
//
// gRPC's threads only move messages into the inbox. The stream is cancelled if the server sends
// replies faster than they are taken and the inbox would exceed kMaxReplies.
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

// Thread-safe. The inbox must outlive the streams that put replies into it.
class ActInbox {
 public:
  static constexpr std::size_t kMaxReplies = 4096;

  struct Events {
    std::deque<proto::ActReply> replies;
    // The final status of the stream.
    std::optional<absl::Status> end;
    bool stopping = false;
  };

  // Returns false when full.
  bool PutReply(proto::ActReply&& reply) ABSL_LOCKS_EXCLUDED(mutex_);
  void PutEnd(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  // Makes this and every later Await return with `stopping`.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes the events that are there; waits for one until `deadline` if there are none.
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
