// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/node_message.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "rl/collectives/node_link.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

const std::vector<NodeMessage> kMessages = {
    NodeJoins{.name = "node-1.lab_a", .ranks = 64, .epoch = 1795828770884, .port = 65535},
    RanksEnded{.epoch = 7, .exit_code = 137, .cause = "signal", .port = 1},
    RanksEnded{.epoch = 7, .exit_code = 0, .cause = "none", .port = 1},
    NodeLeaves{.ended = true},
    NodeLeaves{.ended = false},
    StartRanks{.epoch = 8,
               .first_rank = 2,
               .world_size = 6,
               .address = "fe80::1%eth0",
               .port = 9,
               .cause = ChangeCause::kJoined},
    StopRanks{.epoch = 8, .cause = ChangeCause::kLost, .orderly = false},
    StopRanks{.epoch = 8, .cause = ChangeCause::kLeft, .orderly = true},
    FinishNode{.exit_code = 79},
    RefuseNode{.reason = "there is a node a already, at 10.0.0.1"},
    Beat{}};

// Two ends of a connection, the second of them bare.
struct LinkAndBare {
  LinkAndBare() : LinkAndBare(ConnectedPair().value()) {}
  explicit LinkAndBare(const std::array<int, 2>& ends) : link(ends[0], "the peer"), bare(ends[1]) {}
  ~LinkAndBare() { CloseBare(); }
  void CloseBare() {
    if (bare >= 0) ::close(std::exchange(bare, -1));
  }
  void Write(const std::string& text) const {
    REQUIRE(::send(bare, text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }

  NodeLink link;
  int bare;
};

}  // namespace

TEST_CASE("messages of nodes are read as they were written") {
  for (const NodeMessage& message : kMessages) {
    const std::string line = Encode(message);
    INFO(line);
    REQUIRE(line.find('\n') == line.size() - 1);
    REQUIRE(line.size() <= kMaxNodeLine);
    REQUIRE(Decode(line.substr(0, line.size() - 1)).value() == message);
  }
}

TEST_CASE("lines that no node sends are refused") {
  for (const std::string line : {"",
                                 " ",
                                 "hello",
                                 "beat ",
                                 "beat 1",
                                 "join",
                                 "join 2 a 1 0 1",
                                 "join 1 a 0 0 1",
                                 "join 1 a 65 0 1",
                                 "join 1 a 1 -1 1",
                                 "join 1 a 1 0 0",
                                 "join 1 a 1 0 65536",
                                 "join 1 a/b 1 0 1",
                                 "join 1  1 0 1",
                                 "join 1 a 1 0 1 2",
                                 "join 1 a 1 9223372036854775807 1",
                                 "ended 1 0 none",
                                 "ended 1 256 none 1",
                                 "ended x 0 none 1",
                                 "leave",
                                 "leave now",
                                 "start 1 2 2 a 1 lost",
                                 "start 1 0 65537 a 1 lost",
                                 "start 1 0 1 a;b 1 lost",
                                 "start 1 0 1 a 1 bored",
                                 "stop 1 lost soon",
                                 "stop 1 lost",
                                 "finish",
                                 "finish -1",
                                 "GET / HTTP/1.1\r"}) {
    INFO(line);
    REQUIRE(absl::IsInvalidArgument(Decode(line).status()));
  }
  REQUIRE(absl::IsInvalidArgument(Decode("join 1 " + std::string(65, 'a') + " 1 0 1").status()));
  REQUIRE(absl::IsInvalidArgument(Decode(std::string("join 1 a\0b 1 0 1", 16)).status()));
}

TEST_CASE("a message that comes in pieces is read once it is whole") {
  LinkAndBare pair;
  const std::string line = Encode(kMessages[0]);
  for (const char c : line.substr(0, line.size() - 1)) {
    pair.Write(std::string(1, c));
    REQUIRE(pair.link.Receive().value().empty());
  }
  pair.Write("\nbeat\nle");
  REQUIRE(pair.link.Receive().value() == std::vector<NodeMessage>{kMessages[0], Beat{}});
  pair.Write("ave ended\n");
  REQUIRE(pair.link.Receive().value() == std::vector<NodeMessage>{NodeLeaves{.ended = true}});
}

TEST_CASE("what came whole before the end or before a bad line is read first") {
  for (const std::string rest : {"", "nonsense\n", "be"}) {
    INFO(rest);
    LinkAndBare pair;
    pair.Write("leave ended\n" + rest);
    pair.CloseBare();
    REQUIRE(pair.link.Receive().value() == std::vector<NodeMessage>{NodeLeaves{.ended = true}});
    auto end = pair.link.Receive();
    if (end.ok()) end = pair.link.Receive();
    REQUIRE(end.status().code() == (rest == "nonsense\n" ? absl::StatusCode::kInvalidArgument
                                                         : absl::StatusCode::kUnavailable));
  }
}

TEST_CASE("a line without end is refused before it takes much memory") {
  LinkAndBare pair;
  absl::Status end;
  std::size_t written = 0;
  while (end.ok()) {
    pair.Write(std::string(100, 'x'));
    written += 100;
    end = pair.link.Receive().status();
  }
  REQUIRE(absl::IsInvalidArgument(end));
  REQUIRE(written <= kMaxNodeLine + 100);
}

TEST_CASE("a peer that does not read is given up, and nobody waits for it") {
  LinkAndBare pair;
  absl::Status sent;
  std::size_t messages = 0;
  while (sent.ok() && messages < 1'000'000) {
    sent = pair.link.Send(kMessages[0]);
    ++messages;
  }
  REQUIRE(absl::IsResourceExhausted(sent));
  REQUIRE(pair.link.pending());
}

}  // namespace shoal::collectives
