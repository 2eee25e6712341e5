// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/node_service.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rl/collectives/socket.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/manual_clock.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

using doubles::Eventually;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A service whose time stands still, and which works when the test makes it.
class Served {
 public:
  explicit Served(const NodeGroupOptions& group)
      : service_(Open(), {.group = group, .timing = timing_, .farewell = seconds(5)}, clock_) {}

  // Steps until `condition` holds.
  template <typename Condition>
  bool Until(const Condition& condition) {
    return Eventually([&] {
      more_ = service_.Step(runtime::Duration::zero()).value();
      return condition();
    });
  }
  // Lets time pass in small steps, while the nodes `kept` say that they are there.
  void Pass(runtime::Duration time, const std::vector<NodeLink*>& kept = {}) {
    for (runtime::Duration passed{}; passed < time; passed += seconds(1)) {
      clock_.Advance(seconds(1));
      for (NodeLink* const node : kept) REQUIRE(node->Send(Beat{}).ok());
      for (int step = 0; step < 3; ++step) {
        more_ = service_.Step(runtime::Duration::zero()).value();
      }
    }
  }
  // Returns whether there is more to do after one step.
  bool Step(runtime::Duration wait = {}) { return service_.Step(wait).value(); }
  int Connect() const { return ConnectTo("127.0.0.1", port_, doubles::Soon(), "it").value(); }
  // One that asks to be let in.
  std::unique_ptr<NodeLink> Asker(const std::string& name) const {
    auto node = std::make_unique<NodeLink>(Connect(), "the service");
    REQUIRE(node->Send(NodeJoins{.name = name, .port = 7}).ok());
    return node;
  }
  // A node that has joined.
  std::unique_ptr<NodeLink> Node(const std::string& name) {
    const std::size_t before = service_.connections();
    auto node = Asker(name);
    REQUIRE(Until([&] { return service_.connections() > before; }));
    return node;
  }
  // The next message but beats.
  NodeMessage Hear(NodeLink& node) {
    std::vector<NodeMessage> heard;
    REQUIRE(Until([&] {
      std::vector<NodeMessage> messages = node.Receive().value();
      for (NodeMessage& message : messages) {
        if (!std::holds_alternative<Beat>(message)) heard.push_back(std::move(message));
      }
      return !heard.empty();
    }));
    REQUIRE(heard.size() == 1);
    return heard.front();
  }
  // Whether the service closes this connection without a word.
  bool Closes(int socket) {
    return Until([&] {
      std::array<std::byte, 64> bytes{};
      const auto got = TryReceive(socket, bytes, "the service");
      return absl::IsUnavailable(got.status());
    });
  }

  const NodeService& service() const { return service_; }
  bool more() const { return more_; }

 private:
  int Open() { return Listen("127.0.0.1", port_).value(); }

  doubles::ManualClock clock_;
  const NodeTiming timing_ = {
      .introduction = seconds(10), .beat_every = seconds(2), .silence = seconds(10)};
  std::uint16_t port_ = 0;
  NodeService service_;
  bool more_ = true;
};

void Write(int socket, const std::string& text) {
  REQUIRE(::send(socket, text.data(), text.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(text.size()));
}

// While it lives this process can open no file.
class NoDescriptors {
 public:
  NoDescriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const int next = ::dup(0);
    ::close(next);
    const rlimit none = {.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("nodes that connect are started together, and with others when one is cut off") {
  Served served({.min_nodes = 1, .max_nodes = 2, .settle = seconds(2)});
  auto first = served.Node("a");
  auto second = served.Node("b");
  const auto start = std::get<StartRanks>(served.Hear(*first));
  REQUIRE(start.address == "127.0.0.1");
  REQUIRE(start.port == 7);
  REQUIRE(std::get<StartRanks>(served.Hear(*second)).first_rank == 1);
  second.reset();
  REQUIRE(std::get<StopRanks>(served.Hear(*first)).cause == ChangeCause::kLost);
  REQUIRE(first->Send(RanksEnded{.epoch = start.epoch, .exit_code = 1, .port = 8}).ok());
  served.Pass(seconds(3), {first.get()});
  const auto alone = std::get<StartRanks>(served.Hear(*first));
  REQUIRE(alone.world_size == 1);
  REQUIRE(alone.port == 8);
}

TEST_CASE("a peer that sends something else is dropped, and the others do not notice") {
  Served served({.min_nodes = 1, .max_nodes = 1});
  auto node = served.Node("a");
  (void)served.Hear(*node);
  for (const std::string& garbage :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(4096, 'x'), std::string(64, '\0') + "\n",
        std::string("beat\n"), std::string("ended 1 0 none 1\n"), std::string("leave running\n"),
        std::string("start 1 0 1 a 1 lost\n"), std::string("join 1 b 1 0 1\njoin 1 c 1 0 1\n"),
        std::string("join 1 b 1 0 1\nfinish 0\n")}) {
    INFO(garbage);
    const int socket = served.Connect();
    Write(socket, garbage);
    REQUIRE(served.Closes(socket));
    ::close(socket);
  }
  REQUIRE(served.service().connections() == 1);
  REQUIRE(node->Receive().value().empty());
}

TEST_CASE("a peer that says nothing, or half a message, is dropped in time") {
  Served served({.min_nodes = 1, .max_nodes = 1});
  auto node = served.Node("a");
  (void)served.Hear(*node);
  const int silent = served.Connect();
  const int half = served.Connect();
  Write(half, "join 1 b 1");
  REQUIRE(served.Until([&] { return served.service().connections() == 3; }));
  served.Pass(seconds(9), {node.get()});
  REQUIRE(served.service().connections() == 3);
  served.Pass(seconds(1), {node.get()});
  REQUIRE(served.service().connections() == 1);
  REQUIRE(served.Closes(silent));
  REQUIRE(served.Closes(half));
  ::close(silent);
  ::close(half);
}

TEST_CASE("strangers are so many at most, and a node still comes in once they are dropped") {
  Served served({.min_nodes = 1, .max_nodes = 1});
  std::vector<int> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(served.Connect());
  REQUIRE(served.Closes(strangers.back()));
  REQUIRE(served.service().connections() == 64);
  served.Pass(seconds(10));
  REQUIRE(served.service().connections() == 0);
  auto node = served.Node("a");
  REQUIRE(std::holds_alternative<StartRanks>(served.Hear(*node)));
  for (const int stranger : strangers) ::close(stranger);
}

TEST_CASE("peers that connect without end do not keep the service from its other work") {
  Served served({.min_nodes = 1, .max_nodes = 1});
  std::vector<int> peers;
  for (int i = 0; i < 60; ++i) peers.push_back(served.Connect());
  REQUIRE(served.Step());
  REQUIRE(served.service().connections() < peers.size());
  REQUIRE(served.Until([&] { return served.service().connections() == peers.size(); }));
  for (const int peer : peers) ::close(peer);
}

TEST_CASE("without descriptors a service keeps its nodes, and lets others in once it has some") {
  Served served({.min_nodes = 1, .max_nodes = 2});
  auto node = served.Node("a");
  auto other = served.Asker("b");
  {
    const NoDescriptors none;
    REQUIRE(served.Step());
    served.Pass(seconds(3), {node.get()});
    REQUIRE(served.service().connections() == 1);
    // A connection that waits does not make it look all the time.
    const auto began = std::chrono::steady_clock::now();
    REQUIRE(served.Step(milliseconds(20)));
    REQUIRE(std::chrono::steady_clock::now() - began >= milliseconds(20));
  }
  REQUIRE(std::get<StartRanks>(served.Hear(*node)).world_size == 1);
  served.Pass(seconds(3), {node.get(), other.get()});
  REQUIRE(std::get<StopRanks>(served.Hear(*node)).cause == ChangeCause::kJoined);
}

TEST_CASE("a node that beats but whose ranks do not end is cut off, and the others start again") {
  Served served({.min_nodes = 1, .max_nodes = 3, .stop_limit = seconds(15)});
  auto node = served.Node("a");
  auto stuck = served.Node("b");
  auto lost = served.Node("c");
  const auto start = std::get<StartRanks>(served.Hear(*node));
  lost.reset();
  REQUIRE(std::get<StopRanks>(served.Hear(*node)).cause == ChangeCause::kLost);
  REQUIRE(node->Send(RanksEnded{.epoch = start.epoch, .exit_code = 1, .port = 8}).ok());
  served.Pass(seconds(14), {node.get(), stuck.get()});
  REQUIRE(served.service().connections() == 2);
  served.Pass(seconds(4), {node.get()});
  REQUIRE(served.service().connections() == 1);
  REQUIRE(std::get<StartRanks>(served.Hear(*node)).world_size == 1);
}

TEST_CASE("a node that falls silent is lost, one that beats is not, and both are told beats") {
  Served served({.min_nodes = 1, .max_nodes = 2});
  auto node = served.Node("a");
  auto silent = served.Node("b");
  (void)served.Hear(*node);
  served.Pass(seconds(9), {node.get()});
  REQUIRE(served.service().connections() == 2);
  const auto beats = node->Receive().value();
  REQUIRE(std::count(beats.begin(), beats.end(), NodeMessage(Beat{})) == 4);
  served.Pass(seconds(1), {node.get()});
  REQUIRE(served.service().connections() == 1);
  REQUIRE(std::get<StopRanks>(served.Hear(*node)).cause == ChangeCause::kLost);
}

TEST_CASE("a second node of the same name is told so and dropped, and the first goes on") {
  Served served({.min_nodes = 1, .max_nodes = 2});
  auto node = served.Node("a");
  auto namesake = served.Asker("a");
  REQUIRE(std::get<RefuseNode>(served.Hear(*namesake)).reason.find("node a already") !=
          std::string::npos);
  REQUIRE(served.Until([&] { return served.service().connections() == 1; }));
  served.Pass(seconds(2), {node.get()});
  REQUIRE(std::get<StartRanks>(served.Hear(*node)).world_size == 1);
}

TEST_CASE("a group whose work is done tells its nodes, and ends when they have gone") {
  Served served({.min_nodes = 1, .max_nodes = 2});
  auto node = served.Node("a");
  auto other = served.Node("b");
  const auto start = std::get<StartRanks>(served.Hear(*node));
  (void)served.Hear(*other);
  REQUIRE(node->Send(RanksEnded{.epoch = start.epoch, .exit_code = 0, .port = 8}).ok());
  REQUIRE(std::get<FinishNode>(served.Hear(*other)).exit_code == 0);
  REQUIRE(std::get<FinishNode>(served.Hear(*node)).exit_code == 0);
  node.reset();
  REQUIRE(served.Until([&] { return served.service().connections() == 1; }));
  REQUIRE(served.more());
  SECTION("because all have gone") {
    other.reset();
    REQUIRE(served.Until([&] { return !served.more(); }));
  }
  SECTION("because one takes too long") {
    served.Pass(seconds(5), {other.get()});
    REQUIRE_FALSE(served.more());
  }
}

}  // namespace shoal::collectives
