// SPDX-License-Identifier: Apache-2.0
// A client of a shard that speaks gRPC itself, message by message.
#pragma once

#include <grpcpp/grpcpp.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "proto/replay.grpc.pb.h"
#include "tests/replay/messages.h"

namespace shoal::replay {

using InsertCall = grpc::ClientReaderWriter<proto::InsertRequest, proto::InsertReply>;
using SampleCall = grpc::ClientReaderWriter<proto::SampleRequest, proto::SampleReply>;

template <typename Call, typename Request>
void Write(Call& call, const Request& request) {
  if (call.Write(request)) return;
  FAIL("the stream ended: " << call.Finish().error_message());
}

// A client of one call, which ends after ten seconds.
struct Peer {
  explicit Peer(const std::string& address)
      : stub(proto::Replay::NewStub(transport::CreateChannel(address))) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  }

  std::unique_ptr<InsertCall> Insert() {
    auto call = stub->Insert(&context);
    proto::InsertRequest hello;
    hello.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
    Write(*call, hello);
    return call;
  }
  std::unique_ptr<SampleCall> Sample(std::uint32_t credit, std::uint32_t max_lag = 0,
                                     std::uint64_t group_epoch = 0) {
    auto call = stub->Sample(&context);
    proto::SampleRequest hello;
    hello.mutable_hello()->set_protocol_version(transport::kProtocolVersion);
    hello.mutable_hello()->set_table("unrolls");
    hello.mutable_hello()->set_max_lag(max_lag);
    hello.mutable_hello()->set_group_epoch(group_epoch);
    hello.mutable_hello()->set_world(1);
    hello.set_credit(credit);
    Write(*call, hello);
    proto::SampleReply welcome;
    REQUIRE(call->Read(&welcome));
    REQUIRE(welcome.welcome().protocol_version() == transport::kProtocolVersion);
    return call;
  }

  grpc::ClientContext context;
  std::unique_ptr<proto::Replay::Stub> stub;
};

inline void ReadWelcome(InsertCall& call) {
  proto::InsertReply reply;
  REQUIRE(call.Read(&reply));
  REQUIRE(reply.has_welcome());
}

inline proto::InsertReply Exchange(InsertCall& call, const proto::InsertRequest& request) {
  REQUIRE(call.Write(request));
  proto::InsertReply reply;
  REQUIRE(call.Read(&reply));
  return reply;
}

inline proto::InsertReply Exchange(InsertCall& call, const proto::Item& item) {
  proto::InsertRequest request;
  *request.add_items() = item;
  return Exchange(call, request);
}

inline proto::InsertRequest ItemWithContent(std::uint64_t number) {
  proto::InsertRequest request;
  const std::vector<std::string> keys = {KeyBytes("text " + std::to_string(number))};
  *request.add_embeddings() = EmbeddingsOf(keys);
  *request.add_items() = ItemOf(number);
  request.mutable_items(0)->add_content_keys(keys[0]);
  return request;
}

inline proto::Chunk ChunkWith(const std::string& data) {
  proto::Chunk chunk;
  chunk.set_key(KeyBytes(data));
  chunk.set_data(data);
  return chunk;
}

}  // namespace shoal::replay
