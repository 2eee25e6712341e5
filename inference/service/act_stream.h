// SPDX-License-Identifier: Apache-2.0
// The server's end of one actor's stream: checks the hello, hands messages on, sends answers.
//
// Reactions only move messages; decoding, encoding and acting happen on other threads, which answer
// through ReplySink. A message's place in the window is free when all its rows are answered.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inference/core/row_block.h"
#include "platform/transport/server_stream.h"
#include "proto/act.grpc.pb.h"
#include "rl/model/policy_spec.h"

namespace shoal::inference {

class ActStream;

// A message after the hello.
struct ActMessage {
  proto::ActRequest request;
  std::shared_ptr<ActStream> stream;
  std::shared_ptr<const RowLayout> layout;
};

// Where messages go. Thread-safe.
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  // False when full: the message stays with the caller.
  virtual bool Submit(ActMessage&& message) = 0;
};

// What all streams of a server share; outlives them.
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
  // Ends the stream: the message cannot be answered by rows.
  void Refuse(const absl::Status& status);

 private:
  void OnMessage(proto::ActRequest&& request) override;
  absl::Status TakeHello(const proto::ActRequest& request);

  const ActContext& context_;
  const std::uint64_t server_epoch_;
  // Of the reading reaction: null before the hello.
  std::shared_ptr<const RowLayout> layout_;
};

}  // namespace shoal::inference
