// SPDX-License-Identifier: Apache-2.0
#include "platform/http/responder.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "platform/http/fetch.h"
#include "platform/http/server.h"
#include "platform/runtime/bounded_queue.h"
#include "tests/doubles/eventually.h"
#include "tests/platform/http/raw_peer.h"

namespace shoal::http {
namespace {

ServerResponse Text(const std::string& text) {
  return {.body = std::make_shared<const std::string>(text)};
}

// Defers requests to /later and hands out their responders in order. It answers others at once.
class Deferring {
 public:
  explicit Deferring(ServerOptions options = {})
      : server_(Server::Create(std::move(options), [this](const ServerRequest& request) {
                  const std::string target(request.target());
                  if (!target.starts_with("/later")) return Text(target);
                  ServerResponse response;
                  response.later = [this](Responder responder) {
                    waiting_.Push(std::move(responder));
                  };
                  return response;
                }).value()) {}
  Responder Next() {
    auto responder = waiting_.PopUntil(runtime::SystemClock().Now() + doubles::kLongWait);
    REQUIRE(responder);
    return *std::move(responder);
  }
  Server& server() { return *server_; }
  const std::string& address() const { return server_->address(); }

 private:
  runtime::BoundedQueue<Responder> waiting_{100};
  std::unique_ptr<Server> server_;
};

std::string Get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

// Returns whether another connection gets its answer in time.
bool IsServed(const Deferring& deferring) {
  return doubles::Eventually([&] {
    const auto answer = Fetch(deferring.address(), {.target = "/now"});
    return answer.ok() && answer->status == 200;
  });
}

}  // namespace

TEST_CASE("A deferred answer comes from another thread while its worker serves others") {
  Deferring deferring({.threads = 1});
  RawPeer peer(deferring.address());
  peer.Write(Get("/later"));
  const Responder responder = deferring.Next();
  REQUIRE(Fetch(deferring.address(), {.target = "/now"}).value().body == "/now");
  std::thread([&] { responder.Send(Text("at last")); }).join();
  const std::string answer = peer.ReadUntil("at last");
  REQUIRE(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  REQUIRE(answer.find("Content-Length: 7\r\n") != std::string::npos);
  peer.Write(Get("/after"));
  REQUIRE(peer.ReadUntil("/after").starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_CASE("A deferred answer may take longer than any deadline") {
  Deferring deferring({.request_deadline = std::chrono::milliseconds(300),
                       .idle_deadline = std::chrono::milliseconds(300)});
  RawPeer peer(deferring.address());
  peer.Write(Get("/later"));
  const Responder responder = deferring.Next();
  // A connection that came later is closed because it is idle.
  REQUIRE(RawPeer(deferring.address()).ReadAll().empty());
  responder.Send(Text("at last"));
  REQUIRE(peer.ReadUntil("at last").starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_CASE("Pipelined requests wait for the deferred one before them") {
  Deferring deferring;
  RawPeer peer(deferring.address());
  peer.Write(Get("/later/1") + Get("/now") + Get("/later/2"));
  deferring.Next().Send(Text("first"));
  REQUIRE(peer.ReadUntil("first").starts_with("HTTP/1.1 200 "));
  REQUIRE(peer.ReadUntil("/now").starts_with("HTTP/1.1 200 "));
  deferring.Next().Send(Text("third"));
  REQUIRE(peer.ReadUntil("third").starts_with("HTTP/1.1 200 "));
}

TEST_CASE("Of many answers to one request the first counts") {
  Deferring deferring;
  RawPeer peer(deferring.address());
  peer.Write(Get("/later") + Get("/now"));
  const Responder responder = deferring.Next();
  responder.Send(Text("one"));
  const Responder copy = responder;
  copy.Send(Text("two"));
  std::string all = peer.ReadUntil("/now");
  REQUIRE(all.find("one") != std::string::npos);
  REQUIRE(all.find("two") == std::string::npos);
}

TEST_CASE("A responder that is lost answers 500") {
  Deferring deferring;
  RawPeer peer(deferring.address());
  peer.Write(Get("/later"));
  { const Responder lost = deferring.Next(); }
  peer.Shutdown();
  REQUIRE(peer.ReadAll().starts_with("HTTP/1.1 500 "));
}

TEST_CASE("A deferral that throws answers 500 and the server lives on") {
  const auto server =
      Server::Create({}, [](const ServerRequest&) {
        return ServerResponse{.later = [](Responder) { throw std::runtime_error("later"); }};
      }).value();
  REQUIRE(Fetch(server->address(), {}).value().status == 500);
  REQUIRE(Fetch(server->address(), {}).value().status == 500);
}

TEST_CASE("An answer to a peer that has gone does nothing") {
  Deferring deferring({.max_connections = 1});
  {
    RawPeer peer(deferring.address());
    peer.Write(Get("/later"));
    const Responder responder = deferring.Next();
    peer.Close();
    responder.Send(Text("too late"));
  }
  // A request is served only once the earlier connection has gone.
  REQUIRE(IsServed(deferring));
}

TEST_CASE("A peer that goes while its answer is deferred holds no connection") {
  Deferring deferring({.max_connections = 1});
  RawPeer peer(deferring.address());
  peer.Write(Get("/later"));
  const Responder held = deferring.Next();
  const bool closes = GENERATE(true, false);
  closes ? peer.Close() : peer.Shutdown();
  REQUIRE(IsServed(deferring));
  held.Send(Text("nobody hears"));
}

TEST_CASE("What a peer sends while its answer is deferred is answered after it") {
  Deferring deferring;
  RawPeer peer(deferring.address());
  for (int round = 0; round < 3; ++round) {
    peer.Write(Get("/later"));
    const Responder responder = deferring.Next();
    // The next request comes in two pieces, the second of which is sent after the answer.
    peer.Write("GET /no");
    responder.Send(Text("at last"));
    REQUIRE(peer.ReadUntil("at last").starts_with("HTTP/1.1 200 "));
    peer.Write("w HTTP/1.1\r\nHost: x\r\n\r\n");
    REQUIRE(peer.ReadUntil("/now").starts_with("HTTP/1.1 200 "));
  }
}

TEST_CASE("An answer that closes the connection after a deferral is read to its end") {
  Deferring deferring;
  RawPeer peer(deferring.address());
  peer.Write("GET /later HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  deferring.Next().Send(Text("at last"));
  REQUIRE(peer.ReadAll().ends_with("at last"));
}

TEST_CASE("A responder may outlive the server") {
  std::optional<Responder> responder;
  {
    Deferring deferring;
    RawPeer peer(deferring.address());
    peer.Write(Get("/later"));
    responder = deferring.Next();
  }
  responder->Send(Text("nobody hears"));
}

TEST_CASE("Drain waits for a deferred answer, and no longer than its patience") {
  Deferring deferring;
  RawPeer answered(deferring.address());
  answered.Write(Get("/later"));
  const Responder responder = deferring.Next();
  auto drained =
      std::async(std::launch::async, [&] { deferring.server().Drain(std::chrono::seconds(10)); });
  REQUIRE(doubles::Eventually([&] { return !Fetch(deferring.address(), {}).ok(); }));
  responder.Send(Text("in time"));
  const std::string all = answered.ReadAll();
  REQUIRE(all.ends_with("in time"));
  REQUIRE(all.find("Connection: close\r\n") != std::string::npos);
  drained.wait();

  Deferring impatient;
  RawPeer cut(impatient.address());
  cut.Write(Get("/later"));
  const Responder held = impatient.Next();
  impatient.server().Drain(std::chrono::milliseconds(20));
  REQUIRE(cut.ReadAll().empty());
}

}  // namespace shoal::http
