// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/server.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "platform/transport/channel.h"
#include "platform/transport/health_client.h"
#include "platform/transport/protocol.h"
#include "proto/act.grpc.pb.h"
#include "tests/doubles/temporary_folder.h"

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

TEST_CASE("A channel within the process reaches its server without an address") {
  Fixture fixture;
  const auto server = fixture.Create();
  REQUIRE(server.ok());
  const auto channel = (*server)->InProcessChannel();
  REQUIRE(absl::IsUnavailable(CheckHealth(channel, seconds(5))));
  (*server)->SetServing(true);
  REQUIRE(CheckHealth(channel, seconds(5)).ok());
}

TEST_CASE("A server may listen on a socket in the file system, and only one at a time") {
  const doubles::TemporaryFolder folder;
  const std::string address = "unix:" + folder.At("shard.socket");
  Fixture fixture;
  {
    const auto server = fixture.Create({.listen = address});
    REQUIRE(server.ok());
    REQUIRE((*server)->address() == address);
    REQUIRE((*server)->port() == 0);
    (*server)->SetServing(true);
    REQUIRE(CheckHealth(CreateChannel(address), seconds(5)).ok());
    Fixture other;
    const auto second = other.Create({.listen = address});
    REQUIRE(absl::IsFailedPrecondition(second.status()));
    REQUIRE(runtime::Message(second.status()).find(address) != std::string::npos);
    REQUIRE(CheckHealth(CreateChannel(address), seconds(5)).ok());
  }
  // What a server left behind that was killed is replaced.
  const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  const std::string path = folder.At("shard.socket");
  std::copy(path.begin(), path.end(), name.sun_path);
  REQUIRE(::bind(left, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
  ::close(left);
  Fixture again;
  REQUIRE(again.Create({.listen = address}).ok());
}

TEST_CASE("A path that no socket can have is refused, and one that cannot be written is named") {
  Fixture fixture;
  REQUIRE(absl::IsInvalidArgument(fixture.Create({.listen = "unix:"}).status()));
  const std::string long_path = "unix:/tmp/" + std::string(200, 'x');
  REQUIRE(absl::IsInvalidArgument(fixture.Create({.listen = long_path}).status()));
  const absl::Status nowhere = fixture.Create({.listen = "unix:/nowhere/socket"}).status();
  REQUIRE(absl::IsFailedPrecondition(nowhere));
  REQUIRE(runtime::Message(nowhere).find("/nowhere/socket") != std::string::npos);
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
