// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/publisher.h"

#include <grpcpp/grpcpp.h>

#include <catch2/catch.hpp>
#include <optional>

#include "platform/transport/channel.h"
#include "platform/transport/protocol.h"
#include "proto/parameters.grpc.pb.h"
#include "rl/parameters/assembly.h"
#include "rl/parameters/version_wire.h"
#include "tests/rl/parameters/values.h"

namespace shoal::parameters {
namespace {

// A subscriber that reads when the test says so.
class Reader {
 public:
  explicit Reader(const std::string& address, std::optional<Version> known = std::nullopt,
                  std::uint32_t protocol = transport::kProtocolVersion)
      : stub_(proto::Parameters::NewStub(transport::CreateChannel(address))), assembly_(1 << 30) {
    context_.set_deadline(std::chrono::system_clock::now() + kPatience);
    proto::SubscribeRequest request;
    request.set_protocol_version(protocol);
    request.set_client("inference-0");
    if (known) *request.mutable_known() = ToProto(*known);
    call_ = stub_->Subscribe(&context_, request);
  }
  // Returns the next complete version, or nothing if the stream ended.
  std::optional<Parameters> Next() {
    proto::ParametersPart part;
    while (call_->Read(&part)) {
      auto whole = assembly_.Add(part);
      REQUIRE(whole.ok());
      if (whole->has_value()) return **std::move(whole);
    }
    return std::nullopt;
  }
  grpc::Status Finish() { return call_->Finish(); }
  void Cancel() { context_.TryCancel(); }

 private:
  const std::unique_ptr<proto::Parameters::Stub> stub_;
  Assembly assembly_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<proto::ParametersPart>> call_;
};

TEST_CASE("a subscriber gets the newest version at once and each newer one as it comes") {
  PublisherServer server;
  REQUIRE(server.publisher().Publish(ParametersOf(1, 0)));
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1)));
  Reader reader(server.address());
  REQUIRE(reader.Next()->version == Version{1, 1});
  REQUIRE_FALSE(server.publisher().Publish(ParametersOf(1, 1)));
  REQUIRE_FALSE(server.publisher().Publish(ParametersOf(0, 9)));
  REQUIRE(server.publisher().Publish(ParametersOf(2, 0)));
  REQUIRE(reader.Next()->version == Version{2, 0});
  REQUIRE(server.publisher().current() == Version{2, 0});
  REQUIRE(server.publisher().subscribers() == 1);
}

TEST_CASE("what a subscriber knows already is not sent") {
  PublisherServer server;
  REQUIRE(server.publisher().Publish(ParametersOf(1, 5)));
  Reader reader(server.address(), Version{1, 5});
  Reader other(server.address());
  REQUIRE(other.Next()->version == Version{1, 5});
  REQUIRE(server.publisher().Publish(ParametersOf(1, 6)));
  REQUIRE(reader.Next()->version == Version{1, 6});
}

TEST_CASE("a slow subscriber skips versions and holds nobody up") {
  PublisherServer server;
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1, kBytes)));
  Reader slow(server.address());
  Reader quick(server.address());
  REQUIRE(quick.Next()->version == Version{1, 1});
  for (std::uint64_t step = 2; step <= 7; ++step) {
    REQUIRE(server.publisher().Publish(ParametersOf(1, step, kBytes)));
    REQUIRE(quick.Next()->version == Version{1, step});
  }
  int versions = 0;
  Version last;
  while (last != Version{1, 7}) {
    const auto next = slow.Next();
    REQUIRE(next);
    REQUIRE(next->version > last);
    last = next->version;
    ++versions;
  }
  REQUIRE(versions <= 3);
}

TEST_CASE("a subscriber of another protocol version is refused, naming both ends and versions") {
  PublisherServer server;
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1)));
  Reader reader(server.address(), std::nullopt, 99);
  REQUIRE_FALSE(reader.Next());
  const grpc::Status end = reader.Finish();
  REQUIRE(end.error_code() == grpc::FAILED_PRECONDITION);
  REQUIRE(end.error_message().starts_with("inference-0 speaks protocol 99, this learner speaks " +
                                          std::to_string(transport::kProtocolVersion) + ":"));
}

TEST_CASE("draining ends streams that wait and streams that are being written") {
  PublisherServer server;
  Reader waiting(server.address());
  REQUIRE(server.publisher().Publish(ParametersOf(1, 1)));
  REQUIRE(waiting.Next());
  REQUIRE(server.publisher().Publish(ParametersOf(1, 2, std::size_t{32} << 20)));
  Reader cancelled(server.address());
  cancelled.Cancel();
  REQUIRE(cancelled.Finish().error_code() == grpc::CANCELLED);
  std::thread drain([&server] { server.publisher().Drain(std::chrono::seconds(10)); });
  while (waiting.Next()) {
  }
  REQUIRE(waiting.Finish().error_code() == grpc::UNAVAILABLE);
  drain.join();
  REQUIRE(server.publisher().subscribers() == 0);
  Reader late(server.address());
  REQUIRE_FALSE(late.Next());
  REQUIRE(late.Finish().error_code() == grpc::UNAVAILABLE);
}

}  // namespace
}  // namespace shoal::parameters
