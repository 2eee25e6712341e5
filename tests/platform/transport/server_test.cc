// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/server.h"

#include <catch2/catch.hpp>

#include "platform/transport/channel.h"
#include "platform/transport/health_client.h"
#include "platform/transport/protocol.h"
#include "proto/act.grpc.pb.h"

namespace shoal::transport {
namespace {

using std::chrono::seconds;

// A server of one service that has no method.
struct Fixture {
  absl::StatusOr<std::unique_ptr<Server>> Create(const ServerOptions& options = {}) {
    return Server::Create(options, {&service});
  }
  proto::Inference::CallbackService service;
};

TEST_CASE("A server says its real port") {
  Fixture fixture;
  const auto server = fixture.Create();
  REQUIRE(server.ok());
  REQUIRE((*server)->port() > 0);
  REQUIRE((*server)->address() == "127.0.0.1:" + std::to_string((*server)->port()));
}

TEST_CASE("A port in use is an error that names the address") {
  Fixture fixture;
  const auto first = fixture.Create();
  REQUIRE(first.ok());
  Fixture other;
  const auto second = other.Create({.listen = (*first)->address()});
  REQUIRE(absl::IsFailedPrecondition(second.status()));
  REQUIRE(runtime::Message(second.status()).find((*first)->address()) != std::string::npos);
}

TEST_CASE("An address without a port is refused") {
  Fixture fixture;
  REQUIRE(absl::IsInvalidArgument(fixture.Create({.listen = "localhost"}).status()));
}

TEST_CASE("Health follows SetServing") {
  Fixture fixture;
  const auto server = fixture.Create();
  REQUIRE(server.ok());
  const auto channel = CreateChannel((*server)->address());
  REQUIRE(absl::IsUnavailable(CheckHealth(channel, seconds(5))));
  (*server)->SetServing(true);
  REQUIRE(CheckHealth(channel, seconds(5)).ok());
  (*server)->SetServing(false);
  REQUIRE(absl::IsUnavailable(CheckHealth(channel, seconds(5))));
}

TEST_CASE("The health of a server that is not there is unavailable") {
  std::string address;
  {
    Fixture fixture;
    const auto server = fixture.Create();
    REQUIRE(server.ok());
    address = (*server)->address();
  }
  REQUIRE(absl::IsUnavailable(CheckHealth(CreateChannel(address), seconds(5))));
}

TEST_CASE("Another protocol version is refused, naming both ends and both versions") {
  REQUIRE(CheckProtocolVersion(kProtocolVersion, "inference at h:1", "actor").ok());
  const absl::Status other = CheckProtocolVersion(77, "inference at h:1", "actor");
  REQUIRE(absl::IsFailedPrecondition(other));
  REQUIRE(runtime::Message(other).starts_with(
      "inference at h:1 speaks protocol 77, this actor speaks " + std::to_string(kProtocolVersion) +
      ":"));
}

}  // namespace
}  // namespace shoal::transport
