// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/rank_times.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

#include "tests/doubles/manual_clock.h"

namespace shoal::collectives {
namespace {

using std::chrono::milliseconds;

// Rank 1 of three. The others work for 200 and 400 ms in each update, on 100 and 20 rows.
class MiddleRank final : public GradientReducer {
 public:
  std::int64_t rank() const override { return 1; }
  std::int64_t world_size() const override { return 3; }
  absl::Status AllReduceSum(std::span<float>) override { return absl::OkStatus(); }
  absl::Status AllReduceSum(std::span<double> values) override {
    ++sums;
    values[0] += 0.2;
    values[2] += 0.4;
    values[3] += 100;
    values[5] += 20;
    return end;
  }
  absl::Status AllReduceMax(std::span<double>) override { return absl::OkStatus(); }
  absl::Status AllReduceMin(std::span<double>) override { return absl::OkStatus(); }
  absl::Status ReduceScatterSum(std::span<float>) override { return absl::OkStatus(); }
  absl::Status AllGather(std::span<float>) override { return absl::OkStatus(); }
  absl::Status Broadcast(std::span<std::byte>) override { return absl::OkStatus(); }
  absl::Status Barrier() override { return absl::OkStatus(); }
  void Abort(const absl::Status&) override {}
  Communication communication() const override { return spent; }

  Communication spent = {.calls = 10, .bytes = 1000, .seconds = 5};
  absl::Status end;
  int sums = 0;
};

}  // namespace

TEST_CASE("an update is divided into work and rows, by rank, and communication") {
  doubles::ManualClock clock;
  MiddleRank group;
  RankStopwatch stopwatch(group, clock);
  clock.Advance(milliseconds(1000));
  group.spent = {.calls = 13, .bytes = 1600, .seconds = 5.7};
  const RankTimes times = stopwatch.Stop(30).value();
  REQUIRE(times.communication_seconds == Approx(0.7));
  REQUIRE(times.exposed_communication_seconds == Approx(0.7));
  REQUIRE(times.communication_bytes == 600);
  REQUIRE(times.working_seconds.size() == 3);
  REQUIRE(times.working_seconds[0] == Approx(0.2));
  REQUIRE(times.working_seconds[1] == Approx(0.3));
  REQUIRE(times.working_seconds[2] == Approx(0.4));
  REQUIRE(times.straggler_ratio() == Approx(4.0 / 3.0));
  REQUIRE(times.rows == std::vector<double>{100, 30, 20});
  REQUIRE(times.data_skew() == Approx(2));
  REQUIRE(group.sums == 1);
}

TEST_CASE("a rank that works while it communicates waits only for the rest") {
  doubles::ManualClock clock;
  MiddleRank group;
  RankStopwatch stopwatch(group, clock);
  clock.Advance(milliseconds(1000));
  group.spent.seconds = 5.7;
  const RankTimes times = stopwatch.Stop(30, /*overlapped_seconds=*/0.5).value();
  REQUIRE(times.communication_seconds == Approx(0.7));
  REQUIRE(times.exposed_communication_seconds == Approx(0.2));
  REQUIRE(times.working_seconds[1] == Approx(0.8));
}

TEST_CASE("times that cannot be exchanged are the group's error") {
  const doubles::ManualClock clock;
  MiddleRank group;
  group.end = absl::UnavailableError("rank 2 was lost");
  REQUIRE(absl::IsUnavailable(RankStopwatch(group, clock).Stop(30).status()));
}

TEST_CASE("a rank alone has nothing to exchange and no straggler") {
  const doubles::ManualClock clock;
  SingleRank alone;
  const RankTimes times = RankStopwatch(alone, clock).Stop(30).value();
  REQUIRE(times.working_seconds.empty());
  REQUIRE(times.straggler_ratio() == 1);
  REQUIRE(times.data_skew() == 1);
}

}  // namespace shoal::collectives
