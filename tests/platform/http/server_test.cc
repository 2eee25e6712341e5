// SPDX-License-Identifier: Apache-2.0
#include "platform/http/server.h"

#include <catch2/catch.hpp>
#include <future>
#include <nlohmann/json.hpp>

#include "platform/http/fetch.h"
#include "tests/doubles/eventually.h"
#include "tests/platform/http/raw_peer.h"

namespace shoal::http {
namespace {

ServerResponse Echo(const ServerRequest& request) {
  if (request.target() == "/throw") throw std::runtime_error("handler");
  ServerResponse response;
  AppendHeader(response.header_lines, "X-Seen", request.Header("X-Sent"));
  response.body = std::make_shared<const std::string>(std::string(request.method()) + " " +
                                                      std::string(request.target()) + " " +
                                                      std::string(request.body()));
  return response;
}

std::unique_ptr<Server> Start(ServerOptions options = {}) {
  return Server::Create(std::move(options), Echo).value();
}

}  // namespace

TEST_CASE("A request reaches the handler and its answer the client") {
  const auto server = Start();
  ClientRequest request{.method = "POST", .target = "/a?b", .body = "hello"};
  request.headers.Add("x-sent", "yes");
  const ClientResponse response = Fetch(server->address(), request).value();
  REQUIRE(response.status == 200);
  REQUIRE(response.body == "POST /a?b hello");
  REQUIRE(response.headers.Find("X-Seen") == "yes");
  REQUIRE(!response.headers.Find("Date").empty());
}

TEST_CASE("Pipelined requests are answered in order on one connection") {
  const auto server = Start();
  RawPeer peer(server->address());
  peer.Write(
      "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPATCH /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2"
      "\r\n\r\nok");
  peer.Write("GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string all = peer.ReadAll();
  REQUIRE(CountOf(all, "HTTP/1.1 200 OK") == 3);
  REQUIRE(all.find("GET /1") < all.find("PATCH /2 ok"));
  REQUIRE(all.find("PATCH /2 ok") < all.find("GET /3"));
  REQUIRE(server->counts().accepted_total == 1);
}

TEST_CASE("A request may come in pieces, chunked, or wait for 100 Continue") {
  const auto server = Start();
  RawPeer pieces(server->address());
  for (const char c : std::string("GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")) {
    pieces.Write(std::string(1, c));
  }
  REQUIRE(pieces.ReadAll().find("GET /slow") != std::string::npos);

  RawPeer chunked(server->address());
  chunked.Write(
      "PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
      "\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  REQUIRE(chunked.ReadAll().find("PUT /c abcde") != std::string::npos);

  RawPeer waiting(server->address());
  waiting.Write(
      "PUT /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n"
      "Connection: close\r\n\r\n");
  REQUIRE(waiting.ReadSome() == "HTTP/1.1 100 Continue\r\n\r\n");
  waiting.Write("xyz");
  REQUIRE(waiting.ReadAll().find("PUT /e xyz") != std::string::npos);
}

TEST_CASE("HEAD gets the length of the body without the body") {
  const auto server = Start();
  RawPeer peer(server->address());
  peer.Write("HEAD /h HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string all = peer.ReadAll();
  REQUIRE(all.find("Content-Length: 8\r\n") != std::string::npos);
  REQUIRE(all.ends_with("\r\n\r\n"));
}

TEST_CASE("HTTP/1.0 closes unless the client asks to keep the connection") {
  const auto server = Start();
  RawPeer closing(server->address());
  closing.Write("GET / HTTP/1.0\r\n\r\n");
  REQUIRE(closing.ReadAll().find("Connection: close") != std::string::npos);
  RawPeer keeping(server->address());
  for (int i = 0; i < 3; ++i) {
    keeping.Write("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    REQUIRE(keeping.ReadUntil("GET / ").find("Connection: keep-alive") != std::string::npos);
  }
  REQUIRE(server->counts().accepted_total == 2);
}

TEST_CASE("A hundred pipelined requests are answered in order") {
  const auto server = Start();
  RawPeer peer(server->address());
  std::string all;
  for (int i = 0; i < 100; ++i) {
    all += "GET /" + std::to_string(i) + (i == 99 ? "?last" : "") + " HTTP/1.1\r\nHost: x\r\n";
    all += i == 99 ? "Connection: close\r\n\r\n" : "\r\n";
  }
  peer.Write(all);
  const std::string answers = peer.ReadAll();
  std::size_t at = 0;
  for (int i = 0; i < 100; ++i) {
    INFO(i);
    at = answers.find("\r\n\r\nGET /" + std::to_string(i) + (i == 99 ? "?last " : " "), at);
    REQUIRE(at != std::string::npos);
  }
  REQUIRE(CountOf(answers, "HTTP/1.1 200 OK") == 100);
}

TEST_CASE("HEAD gets no body of a rejection, and keeps its connection otherwise") {
  const auto server = Start({.max_header_fields = 2});
  RawPeer peer(server->address());
  peer.Write("HEAD /one HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(peer.ReadUntil("\r\n\r\n").find("Content-Length: 10\r\n") != std::string::npos);
  peer.Write("HEAD / HTTP/1.1\r\nHost: x\r\nA: 1\r\nB: 2\r\n\r\n");
  const std::string rejection = peer.ReadAll();
  REQUIRE(rejection.starts_with("HTTP/1.1 431 "));
  REQUIRE(rejection.ends_with("\r\n\r\n"));
}

TEST_CASE("A rejection is a Redfish error with the lines that the service adds") {
  const auto server = Start({.rejection_header_lines = "OData-Version: 4.0\r\n"});
  RawPeer peer(server->address());
  peer.Write("PATCH /r HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\r\n{}");
  peer.Shutdown();
  const std::string all = peer.ReadAll();
  REQUIRE(all.starts_with("HTTP/1.1 411 Length Required\r\n"));
  REQUIRE(all.find("\r\nOData-Version: 4.0\r\n") != std::string::npos);
  const auto error = nlohmann::json::parse(all.substr(all.find("\r\n\r\n")))["error"];
  REQUIRE(error["code"] == "Base.1.22.HeaderMissing");
  REQUIRE(error["message"] == "Required header 'Content-Length' is missing in the request.");
  const auto& info = error["@Message.ExtendedInfo"][0];
  REQUIRE(info["MessageId"] == error["code"]);
  REQUIRE(info["Message"] == error["message"]);
  REQUIRE(info["MessageSeverity"] == "Critical");
  REQUIRE(!info["Resolution"].get<std::string>().empty());
}

TEST_CASE("A header that comes a byte at a time is cut at the request deadline") {
  const auto server = Start({.max_header_bytes = std::int64_t{1} << 30,
                             .request_deadline = std::chrono::milliseconds(30)});
  RawPeer peer(server->address());
  const auto start = std::chrono::steady_clock::now();
  peer.Write("GET / HTTP/1.1\r\nX: ");
  while (peer.TryWrite("x")) {
    REQUIRE(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  }
  REQUIRE(doubles::Eventually([&] { return server->counts().rejected_total == 1; }));
}

TEST_CASE("What is not HTTP is 400, and the server lives on") {
  const auto server = Start();
  for (const char* garbage :
       {"nonsense\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\x16\x03\x01\x02\x00\x01\r\n",
        "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "GET / HTTP/1.1\r\nBad Header: 1\r\n\r\n"}) {
    INFO(garbage);
    RawPeer peer(server->address());
    peer.Write(garbage);
    peer.Shutdown();
    REQUIRE(peer.ReadAll().starts_with("HTTP/1.1 400 "));
  }
  REQUIRE(Fetch(server->address(), {}).value().status == 200);
  REQUIRE(doubles::Eventually([&] { return server->counts().rejected_total == 6; }));
}

TEST_CASE("A body past the limit is 413, announced or chunked") {
  const auto server = Start({.max_body_bytes = 1000});
  RawPeer announced(server->address());
  announced.Write("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n" +
                  std::string(5000, 'x'));
  announced.Shutdown();
  REQUIRE(announced.ReadAll().starts_with("HTTP/1.1 413 "));
  RawPeer chunked(server->address());
  chunked.Write("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" +
                std::string(2000, 'x') + "\r\n0\r\n\r\n");
  chunked.Shutdown();
  REQUIRE(chunked.ReadAll().starts_with("HTTP/1.1 413 "));
  REQUIRE(
      Fetch(server->address(), {.method = "PUT", .body = std::string(1000, 'x')}).value().status ==
      200);
}

TEST_CASE("A header past the limit is 431") {
  const auto server = Start({.max_header_bytes = 2000});
  RawPeer peer(server->address());
  peer.Write("GET / HTTP/1.1\r\nX: " + std::string(5000, 'x') + "\r\n\r\n");
  peer.Shutdown();
  REQUIRE(peer.ReadAll().starts_with("HTTP/1.1 431 "));
}

TEST_CASE("Connections past the limit are refused with 503") {
  const auto server = Start({.max_connections = 1});
  RawPeer first(server->address());
  first.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(first.ReadSome().starts_with("HTTP/1.1 200 "));
  RawPeer second(server->address());
  second.Shutdown();
  REQUIRE(second.ReadAll().starts_with("HTTP/1.1 503 "));
  REQUIRE(server->counts().refused_total == 1);
  first.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(first.ReadSome().starts_with("HTTP/1.1 200 "));
}

TEST_CASE("Slow and idle peers lose their connection") {
  // A busy machine may take a while between connecting and writing.
  const auto server = Start({.request_deadline = std::chrono::milliseconds(300),
                             .idle_deadline = std::chrono::milliseconds(300)});
  RawPeer slow(server->address());
  slow.Write("GET / HT");
  REQUIRE(slow.ReadAll().empty());
  RawPeer idle(server->address());
  REQUIRE(idle.ReadAll().empty());
  REQUIRE(doubles::Eventually([&] { return server->counts().rejected_total == 1; }));
}

TEST_CASE("An exception in the handler is 500 for that request alone") {
  const auto server = Start();
  REQUIRE(Fetch(server->address(), {.target = "/throw"}).value().status == 500);
  REQUIRE(Fetch(server->address(), {}).value().status == 200);
}

TEST_CASE("A port in use is an error that names the address") {
  const auto server = Start();
  const auto second = Server::Create({.listen = server->address()}, Echo);
  REQUIRE(second.status().code() == absl::StatusCode::kFailedPrecondition);
  REQUIRE(runtime::Message(second.status()).find(server->address()) != std::string::npos);
  REQUIRE(Server::Create({.listen = "nonsense"}, Echo).status().code() ==
          absl::StatusCode::kInvalidArgument);
  REQUIRE(Server::Create({.listen = "192.0.2.1:0"}, Echo).status().code() ==
          absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("Drain ends the request in progress, closes idle connections, accepts no more") {
  std::promise<void> entered;
  std::promise<void> released;
  auto server = Server::Create({.threads = 2}, [&](const ServerRequest& request) {
                  if (request.target() == "/wait") {
                    entered.set_value();
                    released.get_future().wait();
                  }
                  return Echo(request);
                }).value();
  const std::string address = server->address();
  RawPeer idle(address);
  idle.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(idle.ReadSome().starts_with("HTTP/1.1 200 "));
  RawPeer busy(address);
  busy.Write("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  entered.get_future().wait();
  auto drained = std::async(std::launch::async, [&] { server->Drain(std::chrono::seconds(5)); });
  REQUIRE(idle.ReadAll().empty());
  released.set_value();
  REQUIRE(busy.ReadAll().find("GET /wait") != std::string::npos);
  drained.wait();
  REQUIRE(Fetch(address, {}).status().code() == absl::StatusCode::kUnavailable);
  REQUIRE(server->counts().connections == 0);
}

TEST_CASE("a peer that never finishes its request does not hold Drain up") {
  auto server = Server::Create({}, Echo).value();
  RawPeer half(server->address());
  half.Write("GET / HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nHost:");
  REQUIRE(half.ReadSome().starts_with("HTTP/1.1 200 "));
  server->Drain(std::chrono::hours(1));
  REQUIRE(server->counts().connections == 0);
}

}  // namespace shoal::http
