// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <vector>

#include "platform/runtime/mutex.h"
#include "platform/transport/channel.h"
#include "platform/transport/client_stream.h"
#include "platform/transport/server.h"
#include "platform/transport/server_stream.h"
#include "proto/act.grpc.pb.h"

namespace shoal::transport {
namespace {

using std::chrono::seconds;

// What an EchoStream does with a message.
enum class Behaviour : std::uint8_t { kEcho, kHold, kFail };

class EchoStream final : public ServerStream<proto::ActRequest, proto::ActReply> {
 public:
  EchoStream(const ServerStreamOptions& options, StreamRegistry& registry, Behaviour behaviour,
             std::atomic<int>& received)
      : ServerStream(options, registry), behaviour_(behaviour), received_(received) {}

 private:
  void OnMessage(proto::ActRequest&& request) override {
    ++received_;
    if (behaviour_ == Behaviour::kHold) return;
    if (behaviour_ == Behaviour::kFail) {
      Fail(runtime::InvalidArgument("not this"));
    } else {
      proto::ActReply reply;
      reply.mutable_replies()->add_sequences(request.rows().sequences(0));
      Send(std::move(reply));
    }
    Release();
  }

  const Behaviour behaviour_;
  std::atomic<int>& received_;
};

struct EchoService final : proto::Inference::CallbackService {
  grpc::ServerBidiReactor<proto::ActRequest, proto::ActReply>* Act(
      grpc::CallbackServerContext*) override {
    return std::make_shared<EchoStream>(options, registry, behaviour, received)->Start();
  }
  ServerStreamOptions options;
  StreamRegistry registry;
  Behaviour behaviour = Behaviour::kEcho;
  std::atomic<int> received{0};
};

class Caller final : public ClientStream<proto::ActRequest, proto::ActReply> {
 public:
  bool Call(std::uint64_t sequence) {
    proto::ActRequest request;
    request.mutable_rows()->add_sequences(sequence);
    return Send(std::move(request));
  }
  // Waits until `count` replies have come.
  std::vector<std::uint64_t> Await(std::size_t count) {
    const runtime::MutexLock lock(mutex_);
    while (sequences_.size() < count && !ended_) changed_.Wait(mutex_);
    return sequences_;
  }
  int ends() {
    const runtime::MutexLock lock(mutex_);
    return ends_;
  }

 private:
  void OnMessage(proto::ActReply&& reply) override {
    const runtime::MutexLock lock(mutex_);
    sequences_.push_back(reply.replies().sequences(0));
    changed_.NotifyAll();
  }
  void OnEnd(const absl::Status&) override {
    const runtime::MutexLock lock(mutex_);
    ended_ = true;
    ++ends_;
    changed_.NotifyAll();
  }

  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::vector<std::uint64_t> sequences_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  int ends_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct StreamFixture {
  explicit StreamFixture(Behaviour behaviour = Behaviour::kEcho,
                         const ServerOptions& options = {}) {
    service.behaviour = behaviour;
    auto created = Server::Create(options, {&service});
    REQUIRE(created.ok());
    server = std::move(*created);
    stub = proto::Inference::NewStub(CreateChannel(server->address()));
  }
  // A stream that is still open holds the channel, which must not be destroyed in its last
  // reaction.
  ~StreamFixture() {
    for (const auto& caller : callers) {
      caller->Cancel();
      (void)caller->AwaitEnd();
    }
  }
  std::shared_ptr<Caller> Open() {
    auto caller = std::make_shared<Caller>();
    caller->Start([this](auto* context, auto* reactor) { stub->async()->Act(context, reactor); });
    callers.push_back(caller);
    return caller;
  }
  EchoService service;
  std::unique_ptr<Server> server;
  std::unique_ptr<proto::Inference::Stub> stub;
  std::vector<std::shared_ptr<Caller>> callers;
};

TEST_CASE("Messages are answered in order and an orderly stream ends with OK") {
  StreamFixture fixture;
  const auto caller = fixture.Open();
  for (std::uint64_t i = 0; i < 500; ++i) REQUIRE(caller->Call(i));
  caller->Close();
  REQUIRE(!caller->Call(500));
  const auto sequences = caller->Await(500);
  REQUIRE(sequences.size() == 500);
  REQUIRE(std::is_sorted(sequences.begin(), sequences.end()));
  REQUIRE(caller->AwaitEnd().ok());
  REQUIRE(caller->ends() == 1);
  REQUIRE(fixture.service.registry.AwaitEmpty(seconds(5)));
}

TEST_CASE("Draining answers what came and ends the streams as unavailable") {
  StreamFixture fixture;
  const auto caller = fixture.Open();
  REQUIRE(caller->Call(1));
  REQUIRE(caller->Await(1).size() == 1);
  fixture.service.registry.DrainAll();
  REQUIRE(fixture.service.registry.AwaitEmpty(seconds(5)));
  const absl::Status end = caller->AwaitEnd();
  REQUIRE(absl::IsUnavailable(end));
  REQUIRE(runtime::Message(end) == "draining");
  const auto late = fixture.Open();
  REQUIRE(absl::IsUnavailable(late->AwaitEnd()));
}

TEST_CASE("A stream that fails says why, once") {
  StreamFixture fixture(Behaviour::kFail);
  const auto caller = fixture.Open();
  REQUIRE(caller->Call(1));
  const absl::Status end = caller->AwaitEnd();
  REQUIRE(absl::IsInvalidArgument(end));
  REQUIRE(runtime::Message(end) == "not this");
  REQUIRE(caller->ends() == 1);
}

TEST_CASE("Shutdown ends a stream whose messages are never answered") {
  StreamFixture fixture(Behaviour::kHold);
  const auto caller = fixture.Open();
  REQUIRE(caller->Call(1));
  fixture.server->Shutdown(runtime::Duration::zero());
  REQUIRE(!caller->AwaitEnd().ok());
  REQUIRE(fixture.service.registry.AwaitEmpty(seconds(5)));
}

TEST_CASE("A cancelled stream ends on both sides") {
  StreamFixture fixture(Behaviour::kHold);
  const auto caller = fixture.Open();
  REQUIRE(caller->Call(1));
  caller->Cancel();
  REQUIRE(absl::IsCancelled(caller->AwaitEnd()));
  REQUIRE(fixture.service.registry.AwaitEmpty(seconds(5)));
}

TEST_CASE("No more messages are read than the window has places") {
  StreamFixture fixture(Behaviour::kHold);
  fixture.service.options.window = 4;
  const auto caller = fixture.Open();
  for (std::uint64_t i = 0; i < 32; ++i) REQUIRE(caller->Call(i));
  const auto deadline = std::chrono::steady_clock::now() + seconds(5);
  while (fixture.service.received < 4 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  REQUIRE(!caller->AwaitEndUntil(std::chrono::steady_clock::now() + std::chrono::milliseconds(50)));
  REQUIRE(fixture.service.received == 4);
  caller->Cancel();
  REQUIRE(!caller->AwaitEnd().ok());
}

TEST_CASE("An oversized message ends its stream and no other") {
  StreamFixture fixture(Behaviour::kEcho, {.max_message_bytes = 4096});
  const auto small = fixture.Open();
  REQUIRE(small->Call(1));
  REQUIRE(small->Await(1).size() == 1);
  const auto large = fixture.Open();
  proto::ActRequest request;
  request.add_contents()->set_text(std::string(8192, 'x'));
  REQUIRE(large->Send(std::move(request)));
  REQUIRE(absl::IsResourceExhausted(large->AwaitEnd()));
  REQUIRE(small->Call(2));
  REQUIRE(small->Await(2).size() == 2);
  small->Close();
  REQUIRE(small->AwaitEnd().ok());
}

TEST_CASE("A stream to nobody ends as unavailable") {
  StreamFixture fixture;
  fixture.server.reset();
  const auto caller = fixture.Open();
  caller->Call(1);
  REQUIRE(absl::IsUnavailable(caller->AwaitEnd()));
}

}  // namespace
}  // namespace shoal::transport
