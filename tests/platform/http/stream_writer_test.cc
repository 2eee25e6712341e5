// SPDX-License-Identifier: Apache-2.0
#include "platform/http/stream_channel.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <future>
#include <thread>
#include <vector>

#include "platform/http/fetch.h"
#include "platform/http/responder.h"
#include "platform/http/server.h"
#include "platform/runtime/bounded_queue.h"
#include "tests/platform/http/raw_peer.h"

namespace shoal::http {
namespace {

// Streams the answer to every request and hands the writers out in order.
class Streaming {
 public:
  explicit Streaming(ServerOptions options = {})
      : server_(Server::Create(std::move(options), [this](const ServerRequest&) {
                  ServerResponse response;
                  response.header_lines = "X-Stream: 1\r\n";
                  response.content_type = "text/event-stream";
                  response.stream = [this](StreamWriter writer) {
                    writers_.Push(std::move(writer));
                  };
                  return response;
                }).value()) {}
  StreamWriter Next() { return *writers_.Pop(); }
  Server& server() { return *server_; }
  const std::string& address() const { return server_->address(); }

 private:
  runtime::BoundedQueue<StreamWriter> writers_{100};
  std::unique_ptr<Server> server_;
};

constexpr char kGetStream[] = "GET /sse HTTP/1.1\r\nHost: x\r\n\r\n";

std::future<void> WhenClosed(const StreamWriter& writer) {
  auto closed = std::make_shared<std::promise<void>>();
  std::future<void> future = closed->get_future();
  writer.OnClosed([closed] { closed->set_value(); });
  return future;
}

}  // namespace

TEST_CASE("A stream is sent in chunks as it is written, past the idle deadline") {
  Streaming streaming({.request_deadline = std::chrono::milliseconds(200),
                       .idle_deadline = std::chrono::milliseconds(1)});
  RawPeer peer(streaming.address());
  peer.Write(kGetStream);
  const StreamWriter writer = streaming.Next();
  const std::string head = peer.ReadUntil("\r\n\r\n");
  REQUIRE(head.starts_with("HTTP/1.1 200 OK\r\n"));
  REQUIRE(head.find("Content-Type: text/event-stream\r\n") != std::string::npos);
  REQUIRE(head.find("Transfer-Encoding: chunked\r\n") != std::string::npos);
  REQUIRE(head.find("X-Stream: 1\r\n") != std::string::npos);
  REQUIRE(head.find("Content-Length") == std::string::npos);
  REQUIRE(writer.Write("data: 1\n\n"));
  REQUIRE(peer.ReadUntil("\n\n\r\n") == "9\r\ndata: 1\n\n\r\n");
  REQUIRE(writer.Write(std::string(26, 'x')));
  writer.Close();
  REQUIRE(!writer.Write("more"));
  REQUIRE(peer.ReadAll() == "1a\r\n" + std::string(26, 'x') + "\r\n0\r\n\r\n");
}

TEST_CASE("An HTTP/1.0 peer gets a stream without chunks until the connection closes") {
  Streaming streaming;
  RawPeer peer(streaming.address());
  peer.Write("GET /sse HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  {
    const StreamWriter writer = streaming.Next();
    REQUIRE(writer.Write("plain"));
  }
  const std::string all = peer.ReadAll();
  REQUIRE(all.find("Connection: close\r\n\r\nplain") != std::string::npos);
  REQUIRE(all.ends_with("plain"));
  REQUIRE(all.find("chunked") == std::string::npos);
}

TEST_CASE("HEAD of a stream is its head alone") {
  Streaming streaming;
  RawPeer peer(streaming.address());
  peer.Write("HEAD /sse HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string all = peer.ReadAll();
  REQUIRE(all.find("Content-Type: text/event-stream\r\n") != std::string::npos);
  REQUIRE(all.ends_with("\r\n\r\n"));
}

TEST_CASE("A client reads a stream whose writer was lost as a whole answer") {
  Streaming streaming;
  auto answer = std::async(std::launch::async, [&] { return Fetch(streaming.address(), {}); });
  {
    const StreamWriter writer = streaming.Next();
    for (int i = 0; i < 1000; ++i) REQUIRE(writer.Write(std::to_string(i) + "\n"));
  }
  std::string expected;
  for (int i = 0; i < 1000; ++i) expected += std::to_string(i) + "\n";
  REQUIRE(answer.get().value().body == expected);
}

TEST_CASE("The peer's going ends the stream and is told") {
  Streaming streaming;
  RawPeer peer(streaming.address());
  peer.Write(kGetStream);
  const StreamWriter writer = streaming.Next();
  auto closed = WhenClosed(writer);
  REQUIRE(!peer.ReadUntil("\r\n\r\n").empty());
  peer.Close();
  closed.wait();
  REQUIRE(!writer.Write("anyone?"));
  bool at_once = false;
  writer.OnClosed([&] { at_once = true; });
  REQUIRE(at_once);
}

TEST_CASE("What a peer sends during a stream is forgotten") {
  Streaming streaming;
  RawPeer peer(streaming.address());
  peer.Write(kGetStream);
  const StreamWriter writer = streaming.Next();
  peer.Write(std::string(100'000, 'x'));
  writer.Write("still here");
  writer.Close();
  REQUIRE(peer.ReadAll().ends_with("a\r\nstill here\r\n0\r\n\r\n"));
}

TEST_CASE("A peer that reads too slowly loses its stream at the bound") {
  Streaming streaming({.max_stream_bytes = 100'000});
  RawPeer peer(streaming.address());
  peer.Write(kGetStream);
  const StreamWriter writer = streaming.Next();
  auto closed = WhenClosed(writer);
  REQUIRE(!writer.Write(std::string(100'001, 'x')));
  closed.wait();
  // There is no last chunk, so the answer is not complete.
  REQUIRE(!peer.ReadAll().ends_with("0\r\n\r\n"));

  RawPeer silent(streaming.address());
  silent.Write(kGetStream);
  const StreamWriter second = streaming.Next();
  closed = WhenClosed(second);
  const std::string piece(1000, 'x');
  std::size_t written = 0;
  while (second.Write(piece)) {
    written += piece.size();
    // The limit is the kernel's buffers plus the bound of the stream.
    REQUIRE(written < 200'000'000);
  }
  closed.wait();
  REQUIRE(!silent.ReadAll().ends_with("0\r\n\r\n"));
}

TEST_CASE("A piece that takes longer than the request deadline ends the stream") {
  Streaming streaming(
      {.max_stream_bytes = 100'000'000, .request_deadline = std::chrono::milliseconds(30)});
  RawPeer silent(streaming.address());
  silent.Write(kGetStream);
  const StreamWriter writer = streaming.Next();
  auto closed = WhenClosed(writer);
  REQUIRE(writer.Write(std::string(16'000'000, 'x')));
  closed.wait();
  REQUIRE(!writer.Write("x"));
}

TEST_CASE("Drain ends streams as their writers would") {
  Streaming streaming;
  RawPeer peer(streaming.address());
  peer.Write(kGetStream);
  const StreamWriter writer = streaming.Next();
  auto closed = WhenClosed(writer);
  REQUIRE(writer.Write("last"));
  auto drained =
      std::async(std::launch::async, [&] { streaming.server().Drain(std::chrono::hours(1)); });
  REQUIRE(peer.ReadAll().ends_with("4\r\nlast\r\n0\r\n\r\n"));
  peer.Close();
  drained.wait();
  closed.wait();
  REQUIRE(!writer.Write("late"));
  REQUIRE(streaming.server().counts().connections == 0);
}

TEST_CASE("A writer may outlive the server, and hold itself") {
  std::optional<StreamWriter> writer;
  std::future<void> closed;
  {
    Streaming streaming;
    RawPeer peer(streaming.address());
    peer.Write(kGetStream);
    writer = streaming.Next();
    auto told = std::make_shared<std::promise<void>>();
    closed = told->get_future();
    writer->OnClosed([copy = *writer, told] {
      copy.Write("no");
      told->set_value();
    });
  }
  closed.wait();
  REQUIRE(!writer->Write("nobody hears"));
  writer->Close();
}

TEST_CASE("A deferred answer may be a stream") {
  runtime::BoundedQueue<Responder> responders(1);
  const auto server = Server::Create({}, [&](const ServerRequest&) {
                        return ServerResponse{.later = [&](Responder responder) {
                          responders.Push(std::move(responder));
                        }};
                      }).value();
  auto answer = std::async(std::launch::async, [&] { return Fetch(server->address(), {}); });
  responders.Pop()->Send({.stream = [](StreamWriter writer) { writer.Write("bit by bit"); }});
  REQUIRE(answer.get().value().body == "bit by bit");
}

TEST_CASE("Writers on many threads lose nothing") {
  Streaming streaming({.max_stream_bytes = 100'000'000});
  auto answer = std::async(std::launch::async, [&] { return Fetch(streaming.address(), {}); });
  {
    const StreamWriter writer = streaming.Next();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([writer, t] {
        for (int i = 0; i < 500; ++i) writer.Write(std::string(1, static_cast<char>('a' + t)));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::string body = answer.get().value().body;
  std::sort(body.begin(), body.end());
  REQUIRE(body == std::string(500, 'a') + std::string(500, 'b') + std::string(500, 'c') +
                      std::string(500, 'd'));
}

}  // namespace shoal::http
