// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/node_service.h"

#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
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
