// SPDX-License-Identifier: Apache-2.0
// Some of the ranks here are the tests themselves, which speak as hello.h says.
#include "rl/collectives/rendezvous.h"

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rl/collectives/call_header.h"
#include "rl/collectives/hello.h"
#include "rl/collectives/rank_failure.h"
#include "rl/collectives/socket.h"
#include "rl/collectives/socket_reducer.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

using std::chrono::seconds;

using doubles::Hear;
using doubles::MemberOf;
using doubles::Mentions;
using doubles::NewGroup;
using doubles::PatientGroup;
using doubles::Say;
using doubles::Soon;

constexpr seconds kPatience{60};

Neighbour At(std::uint16_t port) {
  Neighbour neighbour{.port = port};
  std::string("127.0.0.1").copy(neighbour.address.data(), neighbour.address.size());
  return neighbour;
}

// A listener of the test at a port of its own.
struct Listener {
  std::uint16_t port = 0;
  int socket = Listen("127.0.0.1", port).value();

  ~Listener() { Close(); }
  void Close() {
    if (socket >= 0) ::close(std::exchange(socket, -1));
  }
};

// Rank 1 of two, which joins with a ring on a thread of its own, and the test in place of rank 0,
// which has let it in.
struct Follower {
  explicit Follower(std::chrono::milliseconds join_timeout = kPatience)
      : group(NewGroup(2)), thread([this, join_timeout] {
          const auto links = LinkRanks(MemberOf(group, 1), true, join_timeout);
          end = links.status();
        }) {
    star = Accept(group.master_listener, Soon()).value();
    hello = Hear<Hello>(star);
    Say(star, Hello{.epoch = group.epoch, .world_size = 2});
  }
  ~Follower() {
    ::close(star);
    ::close(group.master_listener);
    if (thread.joinable()) thread.join();
  }

  const RankEnvironment group;
  absl::Status end;
  std::thread thread;
  int star = -1;
  Hello hello;
};

TEST_CASE("ranks that reach rank 0 at different addresses make a ring") {
  RankEnvironment group;
  group.world_size = 3;
  group.master_listener = Listen("0.0.0.0", group.master_port).value();
  std::array<absl::Status, 3> ends;
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      RankEnvironment member = MemberOf(group, rank);
      member.master_address = rank == 2 ? "127.0.0.2" : "127.0.0.1";
      ends[rank] = LinkRanks(member, true, seconds(20)).status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(end.ok());
  }
}

TEST_CASE("only the previous rank of the same group and epoch becomes a neighbour") {
  Follower rank_1;
  Listener next;
  Say(rank_1.star, At(next.port));
  const Hello right{.rank = 0, .epoch = rank_1.group.epoch, .world_size = 2};
  std::vector<Hello> wrong(4, right);
  wrong[0].magic = 7;
  wrong[1].rank = 1;
  wrong[2].epoch = right.epoch + 1;
  wrong[3].world_size = 3;
  const auto port = static_cast<std::uint16_t>(rank_1.hello.ring_port);
  for (const Hello& hello : wrong) {
    const int socket = ConnectTo("127.0.0.1", port, Soon(), "rank 1").value();
    Say(socket, hello);
    std::array<std::byte, 1> answer{};
    REQUIRE(absl::IsUnavailable(ReceiveAll(socket, answer, Soon(), "rank 1")));
    ::close(socket);
  }
  const int socket = ConnectTo("127.0.0.1", port, Soon(), "rank 1").value();
  Say(socket, right);
  rank_1.thread.join();
  ::close(socket);
  INFO(rank_1.end);
  REQUIRE(rank_1.end.ok());
}

TEST_CASE("the address of a neighbour is a number and no name") {
  Follower rank_1;
  Neighbour nobody;
  std::string("no address").copy(nobody.address.data(), nobody.address.size());
  Say(rank_1.star, nobody);
  rank_1.thread.join();
  REQUIRE(absl::IsFailedPrecondition(rank_1.end));
  REQUIRE(Mentions(rank_1.end, "rank 0 tells of no neighbour: address no address"));
}

TEST_CASE("a rank that is lost while the ring is made is named by all others") {
  for (const bool listens : {true, false}) {
    const RankEnvironment group = NewGroup(3);
    std::array<absl::Status, 2> ends;
    std::vector<std::thread> threads;
    for (const std::size_t rank : {0U, 1U}) {
      threads.emplace_back([&, rank] {
        // A rank whose neighbours have come joins, and hears of the loss in its first call.
        auto reducer = SocketReducer::Create(MemberOf(group, rank), doubles::kPatientGroup);
        ends[rank] = reducer.ok() ? (*reducer)->Barrier() : reducer.status();
      });
    }
    Listener ring;
    if (!listens) ring.Close();
    const int star = ConnectTo("127.0.0.1", group.master_port, Soon(), "rank 0").value();
    Say(star, Hello{.rank = 2, .epoch = group.epoch, .world_size = 3, .ring_port = ring.port});
    (void)Hear<Hello>(star);
    (void)Hear<Neighbour>(star);
    ::close(star);
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& end : ends) {
      INFO("listens " << listens << ": " << end);
      REQUIRE(absl::IsUnavailable(end));
      REQUIRE(Mentions(end, "rank 2 was lost"));
    }
  }
}

TEST_CASE("the loss of rank 0 while the ring is made ends the joining of the others") {
  Follower rank_1;
  Listener next;
  Say(rank_1.star, At(next.port));
  ::close(std::exchange(rank_1.star, -1));
  rank_1.thread.join();
  REQUIRE(absl::IsUnavailable(rank_1.end));
  REQUIRE(Mentions(rank_1.end, "rank 0 was lost"));
}

TEST_CASE(
    "a rank that cannot reach a neighbour says how to do without the ring, to rank 0 as well") {
  for (const bool listens : {true, false}) {
    Follower rank_1{seconds(2)};
    Listener next;
    if (!listens) next.Close();
    Say(rank_1.star, At(next.port));
    const auto header = Hear<CallHeader>(rank_1.star);
    REQUIRE(IsFailure(header));
    const absl::Status told = HearFailure(rank_1.star, header, Soon(), "rank 1");
    rank_1.thread.join();
    REQUIRE(absl::IsDeadlineExceeded(rank_1.end));
    REQUIRE(Mentions(rank_1.end, "rank 0"));
    REQUIRE(Mentions(rank_1.end, "learner.ring_min_bytes"));
    REQUIRE(told == rank_1.end);
  }
}

TEST_CASE("rank 0 takes no more connections when its group is whole") {
  const RankEnvironment group = NewGroup(2);
  absl::Status end;
  std::thread rank_0([&] { end = LinkRanks(group, true, kPatience).status(); });
  const int star = ConnectTo("127.0.0.1", group.master_port, Soon(), "rank 0").value();
  Listener ring;
  Say(star, Hello{.rank = 1, .epoch = group.epoch, .world_size = 2, .ring_port = ring.port});
  (void)Hear<Hello>(star);
  const auto later =
      ConnectTo("127.0.0.1", group.master_port, std::chrono::steady_clock::now(), "rank 0");
  (void)Hear<Neighbour>(star);
  ::close(star);
  rank_0.join();
  REQUIRE(absl::IsDeadlineExceeded(later.status()));
  REQUIRE(absl::IsUnavailable(end));
}

TEST_CASE("a rank that an older rank 0 never accepted joins its successor") {
  RankEnvironment group = NewGroup(2);
  absl::Status end;
  std::thread rank_1(
      [&end, member = MemberOf(group, 1)] { end = LinkRanks(member, false, kPatience).status(); });
  REQUIRE(AwaitReadable(std::array{group.master_listener}, Soon(), "rank 1").ok());
  ::close(std::exchange(group.master_listener, -1));
  const auto hub = LinkRanks(MemberOf(group, 0), false, kPatience);
  rank_1.join();
  INFO(hub.status() << ", " << end);
  REQUIRE(hub.ok());
  REQUIRE(end.ok());
}

TEST_CASE("a rank that never comes is named when the time is over") {
  const RankEnvironment group = NewGroup(3);
  std::thread present([&] {
    (void)SocketReducer::Create(MemberOf(group, 1), {.join_timeout = std::chrono::seconds(2)});
  });
  const auto hub = SocketReducer::Create(group, {.join_timeout = std::chrono::milliseconds(300),
                                                 .call_timeout = std::chrono::milliseconds(300)});
  present.join();
  REQUIRE(hub.status().code() == absl::StatusCode::kDeadlineExceeded);
  REQUIRE(Mentions(hub.status(), "ranks missing"));
  REQUIRE(Mentions(hub.status(), " 2"));
}

TEST_CASE("ranks that do not agree on whether there is a ring do not join") {
  const RankEnvironment group = NewGroup(2);
  std::thread other([&] { (void)SocketReducer::Create(MemberOf(group, 1), PatientGroup(1)); });
  const auto hub = SocketReducer::Create(group, PatientGroup(0));
  other.join();
  REQUIRE(absl::IsFailedPrecondition(hub.status()));
  REQUIRE(Mentions(hub.status(), "whether there is a ring"));
}

TEST_CASE("strangers at rank 0's port are turned away, and the group forms without them") {
  const RankEnvironment group = NewGroup(2);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto connect = [&] {
    return ConnectTo("127.0.0.1", group.master_port, deadline, "x").value();
  };
  // A probe that only connects, and a client of something else. They come before rank 1 does.
  ::close(connect());
  const int other = connect();
  const std::array<std::byte, 64> garbage{};
  REQUIRE(SendAll(other, garbage, deadline, "x").ok());
  absl::StatusOr<std::unique_ptr<SocketReducer>> member;
  std::thread rank_1(
      [&] { member = SocketReducer::Create(MemberOf(group, 1), doubles::kPatientGroup); });
  const auto hub = SocketReducer::Create(group, doubles::kPatientGroup);
  rank_1.join();
  ::close(other);
  REQUIRE(hub.ok());
  REQUIRE(member.ok());
}

TEST_CASE("a rank of a group of another size is refused") {
  const RankEnvironment group = NewGroup(2);
  absl::StatusOr<std::unique_ptr<SocketReducer>> other;
  std::thread misled([&] {
    RankEnvironment larger = MemberOf(group, 1);
    larger.world_size = 3;
    other = SocketReducer::Create(larger, doubles::kPatientGroup);
  });
  const auto hub = SocketReducer::Create(group, doubles::kPatientGroup);
  misled.join();
  REQUIRE(absl::IsFailedPrecondition(hub.status()));
  REQUIRE(Mentions(hub.status(), "rank 1 of 3"));
  REQUIRE_FALSE(other.ok());
}

TEST_CASE("a straggler of an older epoch is turned away, and the group forms without it") {
  RankEnvironment group = NewGroup(2);
  group.epoch = 5;
  absl::StatusOr<std::unique_ptr<SocketReducer>> hub;
  std::thread rank_0([&] { hub = SocketReducer::Create(group, doubles::kPatientGroup); });
  RankEnvironment older = MemberOf(group, 1);
  older.epoch = 4;
  const auto straggler = SocketReducer::Create(older, doubles::kPatientGroup);
  const auto member = SocketReducer::Create(MemberOf(group, 1), doubles::kPatientGroup);
  rank_0.join();
  REQUIRE(absl::IsAborted(straggler.status()));
  REQUIRE(Mentions(straggler.status(), "rank 1 is of epoch 4"));
  REQUIRE(Mentions(straggler.status(), "rank 0 is of epoch 5"));
  REQUIRE(hub.ok());
  REQUIRE(member.ok());
}

TEST_CASE("rank 0 of an older epoch gives up its place, and the newer rank joins its successor") {
  RankEnvironment older = NewGroup(2);
  older.epoch = 4;
  RankEnvironment newer = older;
  newer.epoch = 5;
  newer.master_listener = -1;
  absl::StatusOr<std::unique_ptr<SocketReducer>> member;
  std::thread rank_1(
      [&] { member = SocketReducer::Create(MemberOf(newer, 1), doubles::kPatientGroup); });
  const auto straggler = SocketReducer::Create(older, doubles::kPatientGroup);
  const auto hub = SocketReducer::Create(newer, doubles::kPatientGroup);
  rank_1.join();
  REQUIRE(absl::IsAborted(straggler.status()));
  REQUIRE(Mentions(straggler.status(), "rank 0 is of epoch 4"));
  REQUIRE(Mentions(straggler.status(), "rank 1 is of epoch 5"));
  INFO(hub.status());
  REQUIRE(hub.ok());
  REQUIRE(member.ok());
}

}  // namespace
}  // namespace shoal::collectives
