// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/socket_reducer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rl/collectives/call_header.h"
#include "rl/collectives/rank_failure.h"
#include "rl/collectives/rendezvous.h"
#include "rl/collectives/socket.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

using std::chrono::milliseconds;

using doubles::Hear;
using doubles::kBothWays;
using doubles::MemberOf;
using doubles::Mentions;
using doubles::NewGroup;
using doubles::PatientGroup;
using doubles::Say;
using doubles::Soon;
using doubles::TryRanks;
using doubles::Within;

// Long enough for every rank to do its part, and as short as a test may wait for it.
constexpr std::chrono::seconds kEnough{3};

TEST_CASE("sums are those of plain addition, for any number of ranks and elements") {
  for (const std::int64_t way : kBothWays) {
    for (const std::size_t ranks : {1U, 2U, 3U, 4U}) {
      const std::vector<std::size_t> sizes = {0, 1, 2, 3, 5, 1000, 300'001};
      const auto statuses = TryRanks(
          ranks,
          [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
            for (const std::size_t size : sizes) {
              std::vector<float> values(size);
              for (std::size_t i = 0; i < size; ++i) {
                values[i] = static_cast<float>((i * 7 + rank * 13) % 1000);
              }
              SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<float>(values)));
              for (std::size_t i = 0; i < size; ++i) {
                std::size_t sum = 0;
                for (std::size_t one = 0; one < ranks; ++one) sum += (i * 7 + one * 13) % 1000;
                if (values[i] != static_cast<float>(sum)) return runtime::Internal("a wrong sum");
              }
            }
            return absl::OkStatus();
          },
          PatientGroup(way));
      for (const absl::Status& status : statuses) {
        INFO("way " << way << " ranks " << ranks << ": " << status);
        REQUIRE(status.ok());
      }
    }
  }
}

TEST_CASE("sums around a ring have the same bits on every rank and in every run") {
  std::vector<std::vector<float>> results;
  for (int run = 0; run < 2; ++run) {
    std::array<std::vector<float>, 4> sums;
    const auto statuses = TryRanks(
        4,
        [&](std::size_t rank, GradientReducer& reducer) {
          std::vector<float>& values = sums[rank];
          for (std::size_t i = 0; i < 200'003; ++i) {
            values.push_back(1.0F / static_cast<float>(i * 5 + rank * 1009 + 3));
          }
          return reducer.AllReduceSum(std::span<float>(values));
        },
        PatientGroup(1));
    for (const absl::Status& status : statuses) REQUIRE(status.ok());
    for (const auto& sum : sums) results.push_back(sum);
  }
  for (const auto& result : results) REQUIRE(result == results.front());
}

TEST_CASE("sums over rank 0 are the same bits on every rank, added in the order of ranks") {
  std::array<std::vector<float>, 3> results;
  const auto statuses = TryRanks(
      3,
      [&](std::size_t rank, GradientReducer& reducer) {
        const float parts[] = {1e8F, 1.0F, -1e8F};
        std::vector<float> values(100'000, parts[rank]);
        values[0] = static_cast<float>(rank);
        SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<float>(values)));
        results[rank] = values;
        return absl::OkStatus();
      },
      PatientGroup(0));
  for (const absl::Status& status : statuses) REQUIRE(status.ok());
  REQUIRE(results[0][0] == 3);
  REQUIRE(results[0][5] == (1e8F + 1.0F) - 1e8F);
  REQUIRE(results[1] == results[0]);
  REQUIRE(results[2] == results[0]);
}

TEST_CASE("maxima, minima, double sums, broadcasts and barriers work, also on empty spans") {
  for (const std::int64_t way : kBothWays) {
    const auto statuses = TryRanks(
        2,
        [](std::size_t rank, GradientReducer& reducer) {
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
        },
        PatientGroup(way));
    for (const absl::Status& status : statuses) REQUIRE(status.ok());
  }
}

TEST_CASE("a lost rank is an error that names it, on rank 0 and on the others") {
  for (const std::int64_t way : kBothWays) {
    for (const std::size_t lost : {1U, 2U, 3U}) {
      const auto statuses = TryRanks(
          4,
          [&](std::size_t rank, GradientReducer& reducer) {
            if (rank == lost) return absl::OkStatus();
            std::vector<double> values(1000);
            return reducer.AllReduceSum(std::span<double>(values));
          },
          PatientGroup(way));
      for (std::size_t rank = 0; rank < 4; ++rank) {
        if (rank == lost) continue;
        INFO("way " << way << " lost " << lost << " rank " << rank << ": " << statuses[rank]);
        REQUIRE(absl::IsUnavailable(statuses[rank]));
        REQUIRE(Mentions(statuses[rank], "rank " + std::to_string(lost) + " was lost"));
      }
    }
  }
}

TEST_CASE("the loss of rank 0 ends the calls of the others") {
  for (const std::int64_t way : kBothWays) {
    const auto statuses = TryRanks(
        3,
        [](std::size_t rank, GradientReducer& reducer) {
          if (rank == 0) return absl::OkStatus();
          std::vector<double> values(1000);
          return reducer.AllReduceSum(std::span<double>(values));
        },
        PatientGroup(way));
    for (const std::size_t rank : {1U, 2U}) {
      INFO("way " << way << " rank " << rank << ": " << statuses[rank]);
      REQUIRE(absl::IsUnavailable(statuses[rank]));
    }
    REQUIRE(Mentions(statuses[1], "rank 0 was lost"));
  }
}

TEST_CASE("ranks that are no neighbours of rank 0 name it when it is lost") {
  const auto statuses = TryRanks(
      4,
      [](std::size_t rank, GradientReducer& reducer) {
        if (rank == 0) return absl::OkStatus();
        std::vector<double> values(1000);
        return reducer.AllReduceSum(std::span<double>(values));
      },
      PatientGroup(1));
  for (const std::size_t rank : {1U, 2U, 3U}) {
    INFO("rank " << rank << ": " << statuses[rank]);
    REQUIRE(absl::IsUnavailable(statuses[rank]));
    REQUIRE(Mentions(statuses[rank], "rank 0 was lost"));
  }
}

TEST_CASE("a rank that fails alone ends the call of every other, which name it and its reason") {
  for (const std::int64_t way : kBothWays) {
    for (const std::size_t culprit : {0U, 1U, 2U}) {
      // The second size exceeds the sockets' buffers, so the others are still sending when the
      // failure arrives.
      for (const std::size_t size : {std::size_t{4}, std::size_t{4} << 20}) {
        const auto begin = std::chrono::steady_clock::now();
        const auto statuses = TryRanks(
            3,
            [&](std::size_t rank, GradientReducer& reducer) {
              if (rank == culprit) {
                reducer.Abort(runtime::Internal("torch: out of memory"));
                return absl::OkStatus();
              }
              std::vector<float> values(size);
              const absl::Status first = reducer.AllReduceSum(std::span<float>(values));
              const absl::Status second = reducer.Barrier();
              return second == first ? first : runtime::Internal("the next call had another error");
            },
            PatientGroup(way));
        const std::string who = "rank " + std::to_string(culprit) + " failed alone";
        for (std::size_t rank = 0; rank < 3; ++rank) {
          if (rank == culprit) continue;
          const absl::Status& status = statuses[rank];
          INFO("way " << way << " culprit " << culprit << " rank " << rank << ": " << status);
          REQUIRE(absl::IsAborted(status));
          REQUIRE(Mentions(status, who));
          REQUIRE(Mentions(status, "torch: out of memory"));
        }
        REQUIRE(std::chrono::steady_clock::now() - begin < doubles::kPatientGroup.call_timeout);
      }
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
  for (const std::int64_t way : kBothWays) {
    std::atomic<int> ended = 0;
    const auto statuses = TryRanks(
        3,
        [&](std::size_t rank, GradientReducer& reducer) {
          if (rank == 2) {
            while (ended < 2) std::this_thread::yield();
            return absl::OkStatus();
          }
          std::vector<double> values(1000);
          const absl::Status status = reducer.AllReduceSum(std::span<double>(values));
          ++ended;
          return status;
        },
        Within(milliseconds(100), way));
    for (const std::size_t rank : {0U, 1U}) {
      REQUIRE(statuses[rank].code() == absl::StatusCode::kDeadlineExceeded);
      REQUIRE(Mentions(statuses[rank], "rank 2 did not come in time"));
    }
  }
}

// Makes `sums` sums of `floats` floats as one rank. Returns the first error.
absl::Status MakeSums(const RankEnvironment& member, const GroupOptions& options, int sums,
                      std::size_t floats) {
  SHOAL_ASSIGN_OR_RETURN(const auto reducer, SocketReducer::Create(member, options));
  std::vector<float> values(floats);
  for (int i = 0; i < sums; ++i) {
    SHOAL_RETURN_IF_ERROR(reducer->AllReduceSum(std::span<float>(values)));
  }
  return absl::OkStatus();
}

// The header of the first of them.
CallHeader FirstSum(std::size_t floats) {
  return {.kind = CallKind::kSumFloat, .sequence = 1, .bytes = 4 * floats, .around_ring = 1};
}

struct Sums {
  GroupOptions options = PatientGroup(1);
  int sums = 1;
  std::size_t floats = 1000;
};

// Runs ranks 0 and 1 of three in sums around the ring, and `third` in place of rank 2, with its
// connections and the header of the first sum. They stay open until the others have ended. Returns
// the ends of ranks 0 and 1.
std::array<absl::Status, 2> SumBeside(const std::function<void(RankLinks&, CallHeader)>& third,
                                      const Sums& work = {}) {
  const RankEnvironment group = NewGroup(3);
  std::array<absl::Status, 2> ends;
  std::vector<std::thread> threads;
  for (const std::size_t rank : {0U, 1U}) {
    threads.emplace_back([&, rank] {
      ends[rank] = MakeSums(MemberOf(group, rank), work.options, work.sums, work.floats);
    });
  }
  auto links = LinkRanks(MemberOf(group, 2), true, std::chrono::seconds(60));
  REQUIRE(links.ok());
  third(*links, FirstSum(work.floats));
  for (std::thread& thread : threads) thread.join();
  return ends;
}

// Runs rank 1 of two in sums around the ring, and `first` in place of rank 0. Returns the end of
// rank 1.
absl::Status SumBelow(const std::function<void(RankLinks&, CallHeader)>& first,
                      const Sums& work = {}) {
  const RankEnvironment group = NewGroup(2);
  absl::Status end;
  std::thread rank_1(
      [&] { end = MakeSums(MemberOf(group, 1), work.options, work.sums, work.floats); });
  auto links = LinkRanks(group, true, std::chrono::seconds(60));
  REQUIRE(links.ok());
  first(*links, FirstSum(work.floats));
  rank_1.join();
  return end;
}

// Sends zeros in place of floats.
void Feed(int socket, std::size_t floats) {
  const std::vector<float> values(floats);
  REQUIRE(SendAll(socket, std::as_bytes(std::span(values)), Soon(), "a rank").ok());
}

// Sends the header up to ten million times, and returns whether the peer closed the connection
// before.
bool RepeatUntilClosed(int socket, const CallHeader& header) {
  const std::vector<CallHeader> many(1000, header);
  for (int i = 0; i < 10'000; ++i) {
    const absl::Status sent = SendAll(socket, std::as_bytes(std::span(many)), Soon(), "a rank");
    if (!sent.ok()) return absl::IsUnavailable(sent);
  }
  return false;
}

TEST_CASE("a rank that stops in the middle of a sum is named by all others") {
  const auto ends = SumBeside(
      [](RankLinks& links, const CallHeader& header) {
        Say(links.star[0], header);
        Say(links.next, header);
      },
      {.options = Within(kEnough, 1)});
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(absl::IsDeadlineExceeded(end));
    REQUIRE(Mentions(end, "rank 2 did not come in time"));
    REQUIRE_FALSE(Mentions(end, "rank 1"));
  }
}

TEST_CASE("a rank that is lost in the middle of a sum is named by all others") {
  const auto ends = SumBeside([](RankLinks& links, const CallHeader& header) {
    Say(links.star[0], header);
    Say(links.next, header);
    const RankLinks closed = std::move(links);
  });
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(absl::IsUnavailable(end));
    REQUIRE(Mentions(end, "rank 2 was lost"));
  }
}

TEST_CASE("a rank that sends another array or garbage around the ring is refused") {
  for (const bool garbage : {false, true}) {
    const auto ends = SumBeside([garbage](RankLinks& links, const CallHeader& header) {
      Say(links.star[0], header);
      CallHeader other = header;
      other.bytes = garbage ? ~std::uint64_t{0} : 4004;
      other.magic = garbage ? 0x5a5a5a5a : header.magic;
      Say(links.next, other);
    });
    for (const absl::Status& end : ends) {
      INFO(end);
      REQUIRE(absl::IsInternal(end));
      REQUIRE(Mentions(end, "rank 2 is out of step"));
    }
  }
}

TEST_CASE("a rank that tells rank 0 garbage during a sum around the ring is refused") {
  const auto ends = SumBeside([](RankLinks& links, CallHeader header) {
    header.magic = 7;
    Say(links.star[0], header);
  });
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(absl::IsInternal(end));
    REQUIRE(Mentions(end, "rank 2 is out of step"));
  }
}

TEST_CASE("a rank that has gone on to the next sum is not accused of the one before") {
  // Rank 2 keeps the last part of the result, which rank 1 has made itself, from rank 0.
  const auto ends = SumBeside(
      [](RankLinks& links, const CallHeader& header) {
        Say(links.star[0], header);
        Say(links.next, header);
        Feed(links.next, 1000);
      },
      {.options = Within(kEnough, 1), .sums = 2});
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(absl::IsDeadlineExceeded(end));
    REQUIRE(Mentions(end, "rank 2 did not come in time"));
    REQUIRE_FALSE(Mentions(end, "rank 1"));
  }
}

TEST_CASE("a rank answers questions about its own sum, and none about one that is over") {
  const absl::Status end = SumBelow(
      [](RankLinks& links, CallHeader header) {
        for (header.sequence = 1; header.sequence <= 2; ++header.sequence) {
          REQUIRE(Hear<CallHeader>(links.star[1]) == header);
          Say(links.star[1], CallHeader{.kind = CallKind::kAsk, .sequence = header.sequence - 1});
          Say(links.star[1], CallHeader{.kind = CallKind::kAsk, .sequence = header.sequence});
          REQUIRE(Hear<CallHeader>(links.star[1]) ==
                  CallHeader{.kind = CallKind::kHere, .sequence = header.sequence});
          Say(links.next, header);
          Feed(links.next, 1000);
        }
      },
      {.sums = 2});
  INFO(end);
  REQUIRE(end.ok());
}

TEST_CASE("a question about a sum that has not begun is out of step") {
  const absl::Status end = SumBelow([](RankLinks& links, const CallHeader&) {
    Say(links.star[1], CallHeader{.kind = CallKind::kAsk, .sequence = 2});
  });
  INFO(end);
  REQUIRE(absl::IsInternal(end));
  REQUIRE(Mentions(end, "rank 0 is out of step"));
}

TEST_CASE("a rank that says twice that it is in a sum is refused") {
  const auto ends = SumBeside([](RankLinks& links, const CallHeader& header) {
    Say(links.star[0], header);
    Say(links.next, header);
    for (int i = 0; i < 2; ++i)
      Say(links.star[0], CallHeader{.kind = CallKind::kHere, .sequence = 1});
  });
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(absl::IsInternal(end));
    REQUIRE(Mentions(end, "rank 2 is out of step"));
  }
}

TEST_CASE("a sum is late when its time is over, whatever has come by then") {
  const RankEnvironment group = NewGroup(2);
  absl::StatusOr<std::unique_ptr<SocketReducer>> hub;
  std::thread rank_0([&] { hub = SocketReducer::Create(group, Within(milliseconds(0), 1)); });
  const auto links = LinkRanks(MemberOf(group, 1), true, std::chrono::seconds(60));
  rank_0.join();
  REQUIRE(links.ok());
  Say(links->star[0], FirstSum(1000));
  Say(links->next, FirstSum(1000));
  Feed(links->next, 1000);
  std::vector<float> values(1000);
  const absl::Status end = (*hub)->AllReduceSum(std::span<float>(values));
  INFO(end);
  REQUIRE(absl::IsDeadlineExceeded(end));
  REQUIRE(Mentions(end, "rank 1 did not come in time"));
}

TEST_CASE("a rank whose time is over while it sends hears what rank 0 has said by then") {
  const RankEnvironment group = NewGroup(2);
  absl::StatusOr<std::unique_ptr<SocketReducer>> member;
  std::thread joining(
      [&] { member = SocketReducer::Create(MemberOf(group, 1), Within(-kTellTime, 0)); });
  const auto links = LinkRanks(group, false, std::chrono::seconds(60));
  joining.join();
  REQUIRE(links.ok());
  const absl::Status verdict = absl::AbortedError("rank 2 failed alone: torch: out of memory");
  REQUIRE(TellFailure(links->star[1], verdict, Soon(), "rank 1").ok());
  absl::Status end;
  std::thread sending([&] {
    // More than the buffers of a connection hold.
    std::vector<float> values(10'000'000);
    end = (*member)->AllReduceSum(std::span<float>(values));
    member->reset();
  });
  std::vector<std::byte> part(std::size_t{1} << 20);
  while (AwaitReadable(std::array{links->star[1]}, Soon(), "rank 1").ok() &&
         TryReceive(links->star[1], part, "rank 1").ok()) {
  }
  sending.join();
  REQUIRE(end == verdict);
}

TEST_CASE("a lost rank does not gain time by what it goes on to tell rank 0") {
  bool closed = false;
  const auto ends = SumBeside([&closed](RankLinks& links, const CallHeader& header) {
    Say(links.star[0], header);
    ::close(std::exchange(links.next, -1));
    closed = RepeatUntilClosed(links.star[0], {.kind = CallKind::kHere, .sequence = 1});
  });
  REQUIRE(closed);
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(absl::IsUnavailable(end));
    REQUIRE(Mentions(end, "rank 2 was lost"));
  }
}

TEST_CASE("a rank that waits for a verdict does so until its time is over, whatever rank 0 asks") {
  bool closed = false;
  const absl::Status end = SumBelow(
      [&closed](RankLinks& links, const CallHeader&) {
        ::close(std::exchange(links.next, -1));
        closed = RepeatUntilClosed(links.star[1], {.kind = CallKind::kAsk});
      },
      {.options = Within(milliseconds(100), 1)});
  INFO(end);
  REQUIRE(closed);
  REQUIRE(absl::IsUnavailable(end));
  REQUIRE(Mentions(end, "rank 0 was lost"));
}

TEST_CASE("ranks give up their connections when all have finished their calls") {
  const RankEnvironment group = NewGroup(2);
  absl::StatusOr<std::vector<int>> taken;
  std::thread rank_1([&] {
    auto reducer = SocketReducer::Create(MemberOf(group, 1), PatientGroup(1));
    if (reducer.ok()) taken = (*reducer)->TakeConnections();
  });
  auto links = LinkRanks(group, true, std::chrono::seconds(60));
  REQUIRE(links.ok());
  const auto header = Hear<CallHeader>(links->star[1]);
  REQUIRE(header == CallHeader{.kind = CallKind::kBarrier, .sequence = 1});
  Say(links->star[1], header);
  rank_1.join();
  REQUIRE(taken.ok());
  REQUIRE(taken->size() == 2);
  REQUIRE(taken->at(1) == -1);
  ::close(taken->at(0));
}

TEST_CASE("a failure that all ranks share keeps its mark when context is added") {
  const absl::Status shared = SharedFailure("the gradient is not finite");
  REQUIRE(absl::IsInternal(shared));
  REQUIRE(IsShared(shared));
  REQUIRE(IsShared(runtime::Annotate(shared, "update 7")));
  REQUIRE_FALSE(IsShared(runtime::Internal("the gradient is not finite")));
  REQUIRE_FALSE(IsShared(absl::OkStatus()));
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
  // The last one divides the ranks: rank 1 would go around the ring, rank 0 would not.
  for (const std::int64_t way : {0, 1, 42}) {
    for (const std::size_t larger : {0U, 1U}) {
      const auto statuses = TryRanks(
          2,
          [&](std::size_t rank, GradientReducer& reducer) {
            std::vector<float> values(rank == larger ? 11 : 10, 1.0F);
            return reducer.AllReduceSum(std::span<float>(values));
          },
          PatientGroup(way));
      INFO("way " << way << " larger " << larger << ": " << statuses[0] << ", " << statuses[1]);
      REQUIRE(absl::IsInternal(statuses[0]));
      REQUIRE(Mentions(statuses[0], "rank 1 is out of step"));
      REQUIRE(statuses[1] == statuses[0]);
    }
  }
}

}  // namespace
}  // namespace shoal::collectives
