// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/socket_reducer.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "rl/collectives/socket.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

using std::chrono::milliseconds;

using doubles::MemberOf;
using doubles::NewGroup;
using doubles::TryRanks;

bool Mentions(const absl::Status& status, const std::string& text) {
  return std::string(status.message()).find(text) != std::string::npos;
}

TEST_CASE("sums are the same bits on every rank, added in the order of ranks") {
  std::array<std::vector<float>, 3> results;
  const auto statuses = TryRanks(3, [&](std::size_t rank, GradientReducer& reducer) {
    const float parts[] = {1e8F, 1.0F, -1e8F};
    std::vector<float> values(100'000, parts[rank]);
    values[0] = static_cast<float>(rank);
    SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<float>(values)));
    results[rank] = values;
    return absl::OkStatus();
  });
  for (const absl::Status& status : statuses) REQUIRE(status.ok());
  REQUIRE(results[0][0] == 3);
  REQUIRE(results[0][5] == (1e8F + 1.0F) - 1e8F);
  REQUIRE(results[1] == results[0]);
  REQUIRE(results[2] == results[0]);
}

TEST_CASE("maxima, minima, double sums, broadcasts and barriers work, also on empty spans") {
  const auto statuses = TryRanks(2, [](std::size_t rank, GradientReducer& reducer) {
    const auto number = static_cast<double>(rank);
    std::array<double, 2> most = {number, -number};
    std::array<double, 2> least = most;
    std::array<double, 2> sum = most;
    std::array<float, 0> nothing{};
    std::array<std::uint8_t, 3> bytes{};
    if (rank == 0) bytes = {7, 8, 9};
    SHOAL_RETURN_IF_ERROR(reducer.AllReduceMax(most));
    SHOAL_RETURN_IF_ERROR(reducer.AllReduceMin(least));
    SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<double>(sum)));
    SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<float>(nothing)));
    SHOAL_RETURN_IF_ERROR(reducer.Broadcast(std::as_writable_bytes(std::span(bytes))));
    SHOAL_RETURN_IF_ERROR(reducer.Barrier());
    const bool right =
        most == std::array<double, 2>{1, 0} && least == std::array<double, 2>{0, -1} &&
        sum == std::array<double, 2>{1, -1} && bytes == std::array<std::uint8_t, 3>{7, 8, 9};
    return right ? absl::OkStatus() : runtime::Internal("wrong values");
  });
  for (const absl::Status& status : statuses) REQUIRE(status.ok());
}

TEST_CASE("a lost rank is an error that names it, on the hub and on the others") {
  const auto statuses = TryRanks(3, [](std::size_t rank, GradientReducer& reducer) {
    if (rank == 1) return absl::OkStatus();
    return reducer.Barrier();
  });
  REQUIRE(absl::IsUnavailable(statuses[0]));
  REQUIRE(Mentions(statuses[0], "rank 1 was lost"));
  REQUIRE(absl::IsUnavailable(statuses[2]));
  REQUIRE(Mentions(statuses[2], "rank 1 was lost"));
}

TEST_CASE("a rank that fails alone ends the call of every other, which name it and its reason") {
  for (const std::size_t culprit : {0U, 1U, 2U}) {
    // The second size exceeds the sockets' buffers, so the others are still sending when the
    // failure arrives.
    for (const std::size_t size : {std::size_t{4}, std::size_t{4} << 20}) {
      const auto begin = std::chrono::steady_clock::now();
      const auto statuses = TryRanks(3, [&](std::size_t rank, GradientReducer& reducer) {
        if (rank == culprit) {
          reducer.Abort(runtime::Internal("torch: out of memory"));
          return absl::OkStatus();
        }
        std::vector<float> values(size);
        const absl::Status first = reducer.AllReduceSum(std::span<float>(values));
        const absl::Status second = reducer.Barrier();
        return second == first ? first : runtime::Internal("the next call had another error");
      });
      const std::string who = "rank " + std::to_string(culprit) + " failed alone";
      for (std::size_t rank = 0; rank < 3; ++rank) {
        if (rank == culprit) continue;
        const absl::Status& status = statuses[rank];
        INFO("culprit " << culprit << " rank " << rank << ": " << status);
        REQUIRE(absl::IsAborted(status));
        REQUIRE(Mentions(status, who));
        REQUIRE(Mentions(status, "torch: out of memory"));
      }
      REQUIRE(std::chrono::steady_clock::now() - begin < doubles::kPatientGroup.call_timeout);
    }
  }
}

TEST_CASE("a failure reaches ranks that wait elsewhere when they look at the others") {
  const auto statuses = TryRanks(3, [](std::size_t rank, GradientReducer& reducer) {
    auto& sockets = dynamic_cast<SocketReducer&>(reducer);
    if (rank == 2) {
      reducer.Abort(runtime::Internal("no memory"));
      return absl::OkStatus();
    }
    absl::Status status;
    while (status.ok()) status = sockets.CheckPeers();
    return status;
  });
  for (const std::size_t rank : {0U, 1U}) {
    REQUIRE(absl::IsAborted(statuses[rank]));
    REQUIRE(Mentions(statuses[rank], "rank 2 failed alone: no memory"));
  }
}

TEST_CASE("a rank that hangs is named by all others when the time is over") {
  constexpr GroupOptions kHasty = {.join_timeout = std::chrono::seconds(20),
                                   .call_timeout = milliseconds(200)};
  std::atomic<int> ended = 0;
  const auto statuses = TryRanks(
      3,
      [&](std::size_t rank, GradientReducer& reducer) {
        if (rank == 2) {
          while (ended < 2) std::this_thread::yield();
          return absl::OkStatus();
        }
        const absl::Status status = reducer.Barrier();
        ++ended;
        return status;
      },
      kHasty);
  for (const std::size_t rank : {0U, 1U}) {
    REQUIRE(statuses[rank].code() == absl::StatusCode::kDeadlineExceeded);
    REQUIRE(Mentions(statuses[rank], "rank 2"));
  }
}

TEST_CASE("a failure that all ranks share keeps its mark when context is added") {
  const absl::Status shared = SharedFailure("the gradient is not finite");
  REQUIRE(absl::IsInternal(shared));
  REQUIRE(IsShared(shared));
  REQUIRE(IsShared(runtime::Annotate(shared, "update 7")));
  REQUIRE_FALSE(IsShared(runtime::Internal("the gradient is not finite")));
  REQUIRE_FALSE(IsShared(absl::OkStatus()));
}

TEST_CASE("a rank that never comes is named when the time is over") {
  const RankEnvironment group = NewGroup(3);
  std::thread present(
      [&] { (void)SocketReducer::Create(MemberOf(group, 1), doubles::kPatientGroup); });
  const auto hub = SocketReducer::Create(
      group, {.join_timeout = milliseconds(300), .call_timeout = milliseconds(300)});
  present.join();
  REQUIRE(hub.status().code() == absl::StatusCode::kDeadlineExceeded);
  REQUIRE(Mentions(hub.status(), "ranks missing"));
  REQUIRE(Mentions(hub.status(), " 2"));
}

TEST_CASE("a rank that joins and then says nothing is named when the time is over") {
  const RankEnvironment group = NewGroup(2);
  absl::StatusOr<std::unique_ptr<SocketReducer>> silent;
  std::thread joining(
      [&] { silent = SocketReducer::Create(MemberOf(group, 1), doubles::kPatientGroup); });
  const auto hub = SocketReducer::Create(
      group, {.join_timeout = std::chrono::seconds(20), .call_timeout = milliseconds(50)});
  joining.join();
  const absl::Status status = (*hub)->Barrier();
  REQUIRE(status.code() == absl::StatusCode::kDeadlineExceeded);
  REQUIRE(Mentions(status, "rank 1"));
}

TEST_CASE("ranks that are out of step are told so instead of being summed") {
  const auto statuses = TryRanks(2, [](std::size_t rank, GradientReducer& reducer) {
    std::vector<float> values(rank == 0 ? 10 : 11, 1.0F);
    return reducer.AllReduceSum(std::span<float>(values));
  });
  REQUIRE(absl::IsInternal(statuses[0]));
  REQUIRE(Mentions(statuses[0], "rank 1 is out of step"));
  REQUIRE_FALSE(statuses[1].ok());
}

TEST_CASE("a peer that is no rank of the group is refused") {
  const RankEnvironment group = NewGroup(2);
  std::thread stranger([port = group.master_port] {
    const int socket = ConnectTo("127.0.0.1", port,
                                 std::chrono::steady_clock::now() + std::chrono::seconds(5), "x")
                           .value();
    const std::array<std::byte, 64> garbage{};
    (void)SendAll(socket, garbage, std::chrono::steady_clock::now() + std::chrono::seconds(5), "x");
    ::close(socket);
  });
  const auto hub = SocketReducer::Create(group, doubles::kPatientGroup);
  stranger.join();
  REQUIRE(absl::IsFailedPrecondition(hub.status()));
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
