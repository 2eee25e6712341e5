// SPDX-License-Identifier: Apache-2.0
#include "platform/http/client_connection.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "platform/http/address.h"
#include "platform/http/fetch.h"
#include "platform/http/server.h"

namespace shoal::http {
namespace {

namespace asio = boost::asio;

ServerResponse Answer(const ServerRequest& request) {
  return {.body = std::make_shared<const std::string>(std::string(request.target()))};
}

// Accepts connections one after the other, answers the first request of each with the next of
// `replies`, and closes it.
class OneShotServer {
 public:
  explicit OneShotServer(std::vector<std::string> replies) : replies_(std::move(replies)) {
    thread_ = std::thread([this] {
      for (const std::string& reply : replies_) {
        asio::ip::tcp::socket socket(context_);
        acceptor_.accept(socket);
        boost::system::error_code ignored;
        std::string request;
        asio::read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n", ignored);
        ++served_;
        if (!reply.empty()) asio::write(socket, asio::buffer(reply), ignored);
      }
    });
  }
  ~OneShotServer() { thread_.join(); }
  std::string address() const { return Format({"127.0.0.1", acceptor_.local_endpoint().port()}); }
  int served() const { return served_; }

 private:
  asio::io_context context_;
  asio::ip::tcp::acceptor acceptor_{context_, {asio::ip::make_address("127.0.0.1"), 0}};
  const std::vector<std::string> replies_;
  std::atomic<int> served_{0};
  std::thread thread_;
};

}  // namespace

TEST_CASE("Requests wait in order and share one connection") {
  const auto server = Server::Create({}, Answer).value();
  asio::io_context context;
  ClientConnection connection(context.get_executor(), {.address = server->address()});
  std::vector<std::string> bodies;
  for (int i = 0; i < 5; ++i) {
    connection.Send(
        {.target = "/" + std::to_string(i)},
        [&](absl::StatusOr<ClientResponse> response) { bodies.push_back(response.value().body); });
  }
  REQUIRE(bodies.empty());
  REQUIRE(connection.waiting() == 5);
  context.run();
  REQUIRE(bodies == std::vector<std::string>{"/0", "/1", "/2", "/3", "/4"});
  REQUIRE(connection.connects_total() == 1);
  REQUIRE(server->counts().accepted_total == 1);
}

TEST_CASE("A callback may send the next request") {
  const auto server = Server::Create({}, Answer).value();
  asio::io_context context;
  ClientConnection connection(context.get_executor(), {.address = server->address()});
  int answered = 0;
  std::function<void(absl::StatusOr<ClientResponse>)> next =
      [&](absl::StatusOr<ClientResponse> response) {
        REQUIRE(response.ok());
        if (++answered < 100) connection.Send({}, next);
      };
  connection.Send({}, next);
  context.run();
  REQUIRE(answered == 100);
  REQUIRE(connection.connects_total() == 1);
}

TEST_CASE("A connection that the server closed is made anew for the next request") {
  auto server = Server::Create({}, Answer).value();
  const std::string address = server->address();
  asio::io_context context;
  ClientConnection connection(context.get_executor(), {.address = address});
  const auto send = [&](const char* method) {
    absl::StatusOr<ClientResponse> result = runtime::Internal("no callback");
    connection.Send({.method = method, .body = "{}"},
                    [&](absl::StatusOr<ClientResponse> response) { result = std::move(response); });
    context.restart();
    context.run();
    return result;
  };
  REQUIRE(send("GET").ok());
  server = nullptr;
  server = Server::Create({.listen = address}, Answer).value();
  REQUIRE(send("PATCH").value().status == 200);
  REQUIRE(connection.connects_total() == 2);
}

TEST_CASE(
    "Without an answer a safe request is sent once more, and one that changes something never") {
  const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  {
    OneShotServer server({"", ok});
    REQUIRE(Fetch(server.address(), {.method = "GET"}).value().body == "ok");
    REQUIRE(server.served() == 2);
  }
  for (const char* method : {"POST", "PATCH", "PUT", "DELETE"}) {
    INFO(method);
    std::atomic<int> seen{0};
    const auto server = Server::Create({}, [&](const ServerRequest&) {
                          ++seen;
                          return ServerResponse{.dropped = true};
                        }).value();
    REQUIRE(Fetch(server->address(), {.method = method, .body = "{}"}).status().code() ==
            absl::StatusCode::kUnavailable);
    REQUIRE(seen == 1);
  }
}

TEST_CASE("Nobody listening is UNAVAILABLE naming the address") {
  auto server = Server::Create({}, Answer).value();
  const std::string address = server->address();
  server = nullptr;
  const auto response = Fetch(address, {});
  REQUIRE(response.status().code() == absl::StatusCode::kUnavailable);
  REQUIRE(runtime::Message(response.status()).find(address) != std::string::npos);
  REQUIRE(Fetch("nonsense", {}).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("A server that never answers is DEADLINE_EXCEEDED") {
  asio::io_context silent;
  asio::ip::tcp::acceptor acceptor(silent, {asio::ip::make_address("127.0.0.1"), 0});
  asio::io_context context;
  ClientConnection connection(context.get_executor(),
                              {.address = Format({"127.0.0.1", acceptor.local_endpoint().port()}),
                               .request_deadline = std::chrono::milliseconds(30)});
  absl::StatusCode code = absl::StatusCode::kOk;
  connection.Send({}, [&](auto response) { code = response.status().code(); });
  context.run();
  REQUIRE(code == absl::StatusCode::kDeadlineExceeded);
}

TEST_CASE("Answers that are no HTTP, cut short or too long are errors") {
  struct Case {
    std::string reply;
    absl::StatusCode code;
  };
  for (const Case& wrong :
       {Case{"nonsense\r\n\r\n", absl::StatusCode::kDataLoss},
        Case{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", absl::StatusCode::kUnavailable},
        Case{"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" + std::string(10000, 'x'),
             absl::StatusCode::kResourceExhausted}}) {
    INFO(wrong.reply.substr(0, 60));
    OneShotServer server({wrong.reply});
    asio::io_context context;
    ClientConnection connection(context.get_executor(),
                                {.address = server.address(), .max_body_bytes = 1000});
    absl::StatusCode code = absl::StatusCode::kOk;
    connection.Send({}, [&](auto response) { code = response.status().code(); });
    context.run();
    REQUIRE(code == wrong.code);
  }
}

TEST_CASE("An answer whose last chunk comes byte by byte is read") {
  asio::io_context server_context;
  asio::ip::tcp::acceptor acceptor(server_context, {asio::ip::make_address("127.0.0.1"), 0});
  asio::io_context context;
  ClientConnection connection(context.get_executor(),
                              {.address = Format({"127.0.0.1", acceptor.local_endpoint().port()})});
  std::string body;
  connection.Send({.target = "/"},
                  [&](absl::StatusOr<ClientResponse> response) { body = response.value().body; });
  asio::ip::tcp::socket socket(server_context);
  acceptor.non_blocking(true);
  boost::system::error_code error = asio::error::would_block;
  while (error == asio::error::would_block) {
    context.poll();
    acceptor.accept(socket, error);
  }
  REQUIRE_FALSE(error);
  while (socket.available() == 0) context.poll();
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello";
  for (const std::string& piece :
       {head, std::string("\r\n0\r\n"), std::string("\r"), std::string("\n")}) {
    asio::write(socket, asio::buffer(piece));
    for (int turn = 0; turn < 100; ++turn) context.poll();
  }
  while (body.empty()) context.poll();
  REQUIRE(body == "hello");
}

TEST_CASE("Past max_waiting a request is RESOURCE_EXHAUSTED") {
  const auto server = Server::Create({}, Answer).value();
  asio::io_context context;
  ClientConnection connection(context.get_executor(),
                              {.address = server->address(), .max_waiting = 2});
  std::vector<absl::StatusCode> codes;
  for (int i = 0; i < 3; ++i) {
    connection.Send({}, [&](auto response) { codes.push_back(response.status().code()); });
  }
  context.run();
  REQUIRE(codes.size() == 3);
  REQUIRE(std::count(codes.begin(), codes.end(), absl::StatusCode::kResourceExhausted) == 1);
}

TEST_CASE("Requests of a connection that goes away end with CANCELLED") {
  const auto server = Server::Create({}, Answer).value();
  asio::io_context context;
  std::vector<absl::StatusCode> codes;
  {
    ClientConnection connection(context.get_executor(), {.address = server->address()});
    for (int i = 0; i < 2; ++i) {
      connection.Send({}, [&](auto response) { codes.push_back(response.status().code()); });
    }
  }
  context.run();
  REQUIRE(codes == std::vector<absl::StatusCode>(2, absl::StatusCode::kCancelled));
}

TEST_CASE("HEAD answers have a length and no body") {
  const auto server = Server::Create({}, Answer).value();
  const ClientResponse response =
      Fetch(server->address(), {.method = "HEAD", .target = "/four"}).value();
  REQUIRE(response.body.empty());
  REQUIRE(response.headers.Find("Content-Length") == "5");
}

}  // namespace shoal::http
