// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/socket_reducer.h"

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>
#include <vector>

#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

using std::chrono::milliseconds;

const SocketReducerOptions kPatient = {.join_timeout = std::chrono::seconds(20),
                                       .call_timeout = std::chrono::seconds(20)};

RankEnvironment Group(std::int64_t world_size) {
  RankEnvironment environment;
  environment.world_size = world_size;
  environment.master_listener = Listen("127.0.0.1", environment.master_port).value();
  return environment;
}

using Body = std::function<absl::Status(GradientReducer&)>;

// Runs `body` as every rank of a group, each on a thread; the statuses by rank.
std::vector<absl::Status> RunGroup(std::int64_t world_size, const Body& body,
                                   const SocketReducerOptions& options = kPatient) {
  const RankEnvironment group = Group(world_size);
  std::vector<absl::Status> statuses(static_cast<std::size_t>(world_size));
  std::vector<std::thread> ranks;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    ranks.emplace_back([&, rank] {
      RankEnvironment own = group;
      own.rank = rank;
      if (rank != 0) own.master_listener = -1;
      auto reducer = SocketReducer::Create(own, options);
      statuses[static_cast<std::size_t>(rank)] = reducer.ok() ? body(**reducer) : reducer.status();
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return statuses;
}

bool Mentions(const absl::Status& status, const std::string& text) {
  return std::string(status.message()).find(text) != std::string::npos;
}

TEST_CASE("sums are the same bits on every rank, added in the order of ranks") {
  std::array<std::vector<float>, 3> results;
  const auto statuses = RunGroup(3, [&](GradientReducer& reducer) {
    const auto rank = static_cast<std::size_t>(reducer.rank());
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
  const auto statuses = RunGroup(2, [](GradientReducer& reducer) {
    const auto rank = static_cast<double>(reducer.rank());
    std::array<double, 2> most = {rank, -rank};
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
  const auto statuses = RunGroup(3, [](GradientReducer& reducer) {
    if (reducer.rank() == 1) return absl::OkStatus();
    return reducer.Barrier();
  });
  REQUIRE(absl::IsUnavailable(statuses[0]));
  REQUIRE(Mentions(statuses[0], "rank 1 was lost"));
  REQUIRE(absl::IsUnavailable(statuses[2]));
  REQUIRE(Mentions(statuses[2], "rank 0 was lost"));
}

TEST_CASE("a rank that never comes is named when the time is over") {
  RankEnvironment group = Group(3);
  RankEnvironment other = group;
  other.rank = 1;
  other.master_listener = -1;
  std::thread present([&] { (void)SocketReducer::Create(other, kPatient); });
  const auto hub = SocketReducer::Create(
      group, {.join_timeout = milliseconds(300), .call_timeout = milliseconds(300)});
  present.join();
  REQUIRE(hub.status().code() == absl::StatusCode::kDeadlineExceeded);
  REQUIRE(Mentions(hub.status(), "ranks missing"));
  REQUIRE(Mentions(hub.status(), " 2"));
}

TEST_CASE("a rank that joins and then says nothing is named when the time is over") {
  RankEnvironment group = Group(2);
  RankEnvironment other = group;
  other.rank = 1;
  other.master_listener = -1;
  absl::StatusOr<std::unique_ptr<SocketReducer>> silent;
  std::thread joining([&] { silent = SocketReducer::Create(other, kPatient); });
  const auto hub = SocketReducer::Create(
      group, {.join_timeout = std::chrono::seconds(20), .call_timeout = milliseconds(50)});
  joining.join();
  const absl::Status status = (*hub)->Barrier();
  REQUIRE(status.code() == absl::StatusCode::kDeadlineExceeded);
  REQUIRE(Mentions(status, "rank 1"));
}

TEST_CASE("ranks that are out of step are told so instead of being summed") {
  const auto statuses = RunGroup(2, [](GradientReducer& reducer) {
    std::vector<float> values(reducer.rank() == 0 ? 10 : 11, 1.0F);
    return reducer.AllReduceSum(std::span<float>(values));
  });
  REQUIRE(absl::IsInternal(statuses[0]));
  REQUIRE(Mentions(statuses[0], "rank 1 is out of step"));
  REQUIRE_FALSE(statuses[1].ok());
}

TEST_CASE("a peer that is no rank of the group is refused") {
  RankEnvironment group = Group(2);
  std::thread stranger([port = group.master_port] {
    const int socket =
        ConnectTo("127.0.0.1", port, std::chrono::steady_clock::now() + std::chrono::seconds(5))
            .value();
    const std::array<std::byte, 12> garbage{};
    (void)SendAll(socket, garbage, std::chrono::steady_clock::now() + std::chrono::seconds(5), "x");
    ::close(socket);
  });
  const auto hub = SocketReducer::Create(group, kPatient);
  stranger.join();
  REQUIRE(absl::IsFailedPrecondition(hub.status()));
}

}  // namespace
}  // namespace shoal::collectives
