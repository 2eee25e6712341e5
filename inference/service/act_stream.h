// SPDX-License-Identifier: Apache-2.0
// The server's end of one actor's stream. It checks the hello, hands messages on and sends answers.
//
// gRPC reactions only move messages. Other threads decode, encode and act, and answer through
// ReplySink. A message's place in the window becomes free when all its rows are answered.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "inference/core/row_block.h"
#include "platform/transport/server_stream.h"
#include "proto/act.grpc.pb.h"
#include "proto/act.pb.h"
#include "rl/model/policy_spec.h"

namespace shoal::inference {

class ActStream;

// A message that follows the hello.
struct ActMessage {
  proto::ActRequest request;
  std::shared_ptr<ActStream> stream;
  std::shared_ptr<const RowLayout> layout;
};

// The destination of messages. Thread-safe.
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  // Returns false when full; the message then stays with the caller.
  virtual bool Submit(ActMessage&& message) = 0;
};

// What all streams of a server share. It must outlive them.
struct ActContext {
  const model::PolicySpec& spec;
  std::uint64_t server_epoch;
  std::string encoder_version;
  std::size_t stream_window;
  MessageSink& messages;
  transport::StreamRegistry& registry;
};

class ActStream final : public transport::ServerStream<proto::ActRequest, proto::ActReply>,
                        public ReplySink {
 public:
  explicit ActStream(const ActContext& context);

  void Deliver(std::vector<RowAnswer> answers) override;
  void Release() override { ServerStream::Release(); }
  // Ends the stream with `status`, because the message cannot be answered row by row.
  void Refuse(const absl::Status& status);

 private:
  void OnMessage(proto::ActRequest&& request) override;
  absl::Status TakeHello(const proto::ActRequest& request);

  const ActContext& context_;
  const std::uint64_t server_epoch_;
  // Used by the reading reaction only. Null before the hello.
  std::shared_ptr<const RowLayout> layout_;
};

// Encodes answers as a message. A pure function.
proto::ActReply EncodeReply(std::span<const RowAnswer> answers, std::uint64_t server_epoch);

// The service of proto/act.proto. It opens one ActStream for each call.
class ActService final : public proto::Inference::CallbackService {
 public:
  // `context` must outlive the service.
  explicit ActService(const ActContext& context) : context_(context) {}

  grpc::ServerBidiReactor<proto::ActRequest, proto::ActReply>* Act(
      grpc::CallbackServerContext* /*call*/) override {
    return std::make_shared<ActStream>(context_)->Start();
  }

 private:
  const ActContext& context_;
};

}  // namespace shoal::inference
