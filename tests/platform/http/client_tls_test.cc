// SPDX-License-Identifier: Apache-2.0
#include "platform/http/tls_context.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "platform/http/address.h"
#include "platform/http/client_connection.h"
#include "platform/http/fetch.h"
#include "platform/http/server.h"
#include "tests/platform/http/development_files.h"

namespace shoal::http {
namespace {

// A TLS server with a self-signed certificate for localhost, 127.0.0.1 and ::1.
class SecureServer {
 public:
  explicit SecureServer(const std::string& listen = "127.0.0.1:0") {
    ServerOptions options = files.Options();
    options.listen = listen;
    server = Server::Create(options, [](const ServerRequest& request) {
               auto body = std::make_shared<const std::string>(std::string(request.target()) +
                                                               std::string(request.body()));
               return ServerResponse{.body = body};
             }).value();
  }

  ClientOptions Trusting() const {
    return {.address = server->address(),
            .tls = ClientTls({.authority_file = files.certificate}).value()};
  }

  const DevelopmentFiles files;
  std::unique_ptr<Server> server;
};

TEST_CASE("A client that trusts the authority speaks TLS, one connection for many requests") {
  const SecureServer secure;
  boost::asio::io_context context;
  ClientConnection connection(context.get_executor(), secure.Trusting());
  const std::string large(300'000, 'x');
  int answers = 0;
  for (int i = 0; i < 3; ++i) {
    connection.Send({.method = "POST", .target = "/r", .body = large}, [&](auto response) {
      REQUIRE(response.ok());
      REQUIRE(response->body == "/r" + large);
      ++answers;
    });
  }
  context.run();
  REQUIRE(answers == 3);
  REQUIRE(connection.connects_total() == 1);
}

TEST_CASE("A certificate that nobody vouches for is refused, unless any is taken") {
  const SecureServer secure;
  const absl::Status refused =
      Fetch({.address = secure.server->address(), .tls = ClientTls({}).value()}, {.target = "/"})
          .status();
  REQUIRE(absl::IsFailedPrecondition(refused));
  REQUIRE(runtime::Message(refused).find("certificate") != std::string::npos);
  const auto taken =
      Fetch({.address = secure.server->address(), .tls = ClientTls({.verify = false}).value()},
            {.target = "/any"});
  REQUIRE(taken->body == "/any");
}

TEST_CASE("A certificate for another host is refused though its authority is trusted") {
  const SecureServer secure("127.0.0.2:0");
  const absl::Status refused = Fetch(secure.Trusting(), {.target = "/"}).status();
  REQUIRE(absl::IsFailedPrecondition(refused));
  REQUIRE(runtime::Message(refused).find("mismatch") != std::string::npos);
}

TEST_CASE("A host is trusted by its name as by its address") {
  const SecureServer secure;
  ClientOptions options = secure.Trusting();
  options.address = "localhost:" + std::to_string(ParseAddress(secure.server->address())->port);
  REQUIRE(Fetch(options, {.target = "/"}).ok());
}

TEST_CASE("A peer that speaks no TLS is told apart from one that nobody vouches for") {
  const auto plain =
      Server::Create({}, [](const ServerRequest&) { return ServerResponse{}; }).value();
  const absl::Status status =
      Fetch({.address = plain->address(), .tls = ClientTls({}).value()}, {.target = "/"}).status();
  REQUIRE(absl::IsUnavailable(status));
}

TEST_CASE("An authority file that is not there, or holds none, is named") {
  REQUIRE(absl::IsNotFound(ClientTls({.authority_file = "/no/such/file"}).status()));
  const absl::Status wrong = ClientTls({.authority_file = "CMakeLists.txt"}).status();
  REQUIRE(absl::IsInvalidArgument(wrong));
  REQUIRE(runtime::Message(wrong).find("CMakeLists.txt") != std::string::npos);
}

}  // namespace
}  // namespace shoal::http
