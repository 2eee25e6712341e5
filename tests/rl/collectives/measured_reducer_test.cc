// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/measured_reducer.h"

#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>

namespace shoal::collectives {
namespace {

constexpr std::chrono::milliseconds kTimeout{1500};

// Answers each call with what `answer` returns at that time.
class AnsweringReducer final : public GradientReducer {
 public:
  explicit AnsweringReducer(std::function<absl::Status()> answer) : answer_(std::move(answer)) {}
  std::int64_t rank() const override { return 1; }
  std::int64_t world_size() const override { return 2; }
  absl::Status AllReduceSum(std::span<float>) override { return answer_(); }
  absl::Status AllReduceSum(std::span<double>) override { return answer_(); }
  absl::Status AllReduceSumCompressed(std::span<float>, std::span<float>) override {
    return answer_();
  }
  bool compresses(std::size_t elements) const override { return elements > 3; }
  absl::Status AllReduceMax(std::span<double>) override { return answer_(); }
  absl::Status AllReduceMin(std::span<double>) override { return answer_(); }
  absl::Status ReduceScatterSum(std::span<float>) override { return answer_(); }
  absl::Status AllGather(std::span<float>) override { return answer_(); }
  absl::Status Broadcast(std::span<std::byte>) override { return answer_(); }
  absl::Status Barrier() override { return answer_(); }
  void Abort(const absl::Status&) override {}
  absl::StatusOr<std::unique_ptr<GradientReducer>> Split(std::int64_t) override {
    return std::make_unique<AnsweringReducer>(answer_);
  }

 private:
  const std::function<absl::Status()> answer_;
};

}  // namespace

TEST_CASE("each collective call is counted with the bytes that it was given") {
  MeasuredReducer reducer(std::make_unique<AnsweringReducer>([] { return absl::OkStatus(); }),
                          nullptr, kTimeout);
  std::array<float, 3> floats{};
  std::array<double, 5> doubles{};
  std::array<std::byte, 7> bytes{};
  REQUIRE(reducer.AllReduceSum(std::span<float>(floats)).ok());
  REQUIRE(reducer.AllReduceSum(std::span<double>(doubles)).ok());
  REQUIRE(reducer.AllReduceMax(std::span<double>(doubles)).ok());
  REQUIRE(reducer.AllReduceMin(std::span<double>(doubles)).ok());
  REQUIRE(reducer.ReduceScatterSum(floats).ok());
  REQUIRE(reducer.AllGather(floats).ok());
  REQUIRE(reducer.Broadcast(std::span<std::byte>(bytes)).ok());
  REQUIRE(reducer.Barrier().ok());
  REQUIRE(reducer.communication().calls == 8);
  REQUIRE(reducer.communication().bytes == 3 * 3 * 4 + 3 * 5 * 8 + 7);
  REQUIRE(reducer.communication().seconds > 0);
}

TEST_CASE("what the calls of a group cost counts for the ranks that it was split from, too") {
  MeasuredReducer all(std::make_unique<AnsweringReducer>([] { return absl::OkStatus(); }), nullptr,
                      kTimeout);
  std::array<float, 3> values{};
  const auto group = all.Split(0).value();
  REQUIRE(all.communication().calls == 1);
  REQUIRE(group->AllReduceSum(std::span<float>(values)).ok());
  const auto part = group->Split(0).value();
  REQUIRE(part->AllGather(values).ok());
  REQUIRE(all.AllReduceSum(std::span<float>(values)).ok());
  REQUIRE(part->communication().calls == 1);
  REQUIRE(part->communication().bytes == 3 * 4);
  REQUIRE(group->communication().calls == 3);
  REQUIRE(group->communication().bytes == 2 * 3 * 4);
  REQUIRE(all.communication().calls == 5);
  REQUIRE(all.communication().bytes == 3 * 3 * 4);
  REQUIRE(all.communication().seconds > group->communication().seconds);
  REQUIRE(group->communication().seconds > part->communication().seconds);
}

TEST_CASE("a compressed sum counts half its bytes where it is rounded, and all of them elsewhere") {
  MeasuredReducer reducer(std::make_unique<AnsweringReducer>([] { return absl::OkStatus(); }),
                          nullptr, kTimeout);
  std::array<float, 5> values{};
  std::array<float, 5> residual{};
  REQUIRE(reducer.AllReduceSumCompressed(values, residual).ok());
  REQUIRE(reducer.communication().bytes == 5 * 2);
  REQUIRE(reducer.AllReduceSumCompressed(std::span(values).first(3), std::span(residual).first(3))
              .ok());
  REQUIRE(reducer.communication().bytes == 5 * 2 + 3 * 4);
  REQUIRE(reducer.communication().calls == 2);
}

TEST_CASE(
    "a launcher sees that a rank has joined, begins a call, ends it, and why it failed first") {
  RankProgress progress;
  std::int64_t within = 0;
  absl::Status answer;
  MeasuredReducer reducer(std::make_unique<AnsweringReducer>([&] {
                            within = progress.calls;
                            return answer;
                          }),
                          &progress, kTimeout);
  REQUIRE(progress.call_timeout_ms == 1500);
  REQUIRE(progress.calls == 0);
  REQUIRE(reducer.Barrier().ok());
  REQUIRE(within == 1);
  REQUIRE(progress.calls == 2);
  REQUIRE(progress.failure == absl::StatusCode::kOk);
  answer = absl::DeadlineExceededError("rank 0");
  REQUIRE(absl::IsDeadlineExceeded(reducer.Barrier()));
  answer = absl::UnavailableError("rank 0");
  REQUIRE(absl::IsUnavailable(reducer.Barrier()));
  REQUIRE(progress.failure == absl::StatusCode::kDeadlineExceeded);
}

}  // namespace shoal::collectives
