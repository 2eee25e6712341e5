// SPDX-License-Identifier: Apache-2.0
// Sums that are scattered over the ranks and shares that are gathered, over sockets.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/rank_share.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

using std::chrono::milliseconds;

using doubles::kBothWays;
using doubles::Mentions;
using doubles::PatientGroup;
using doubles::TryRanks;
using doubles::Within;

TEST_CASE("a scattered sum that is gathered is the sum, to the bit, for any number of elements") {
  for (const std::int64_t way : kBothWays) {
    for (const std::size_t ranks : {1U, 2U, 3U, 4U}) {
      const auto statuses = TryRanks(
          ranks,
          [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
            for (const std::size_t size : {0U, 1U, 2U, 3U, 5U, 1000U, 300'001U}) {
              std::vector<float> sum(size);
              for (std::size_t i = 0; i < size; ++i) {
                sum[i] = 1.0F / static_cast<float>(i * 5 + rank * 1009 + 3);
              }
              std::vector<float> scattered = sum;
              SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<float>(sum)));
              SHOAL_RETURN_IF_ERROR(reducer.ReduceScatterSum(scattered));
              const RankShare share =
                  ShareOf(size, static_cast<std::int64_t>(rank), static_cast<std::int64_t>(ranks));
              std::vector<float> gathered(size, -1);
              std::copy_n(scattered.begin() + static_cast<std::ptrdiff_t>(share.begin), share.size,
                          gathered.begin() + static_cast<std::ptrdiff_t>(share.begin));
              SHOAL_RETURN_IF_ERROR(reducer.AllGather(gathered));
              if (gathered != sum) return runtime::Internal("a wrong sum");
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

TEST_CASE("ranks that scatter and gather without waiting for each other stay in step") {
  for (const std::int64_t way : kBothWays) {
    const auto statuses = TryRanks(
        4,
        [&](std::size_t, GradientReducer& reducer) -> absl::Status {
          for (std::size_t i = 0; i < 200; ++i) {
            std::vector<float> values(1 + i % 9, 1.0F);
            SHOAL_RETURN_IF_ERROR(reducer.ReduceScatterSum(values));
            SHOAL_RETURN_IF_ERROR(reducer.ReduceScatterSum(values));
            SHOAL_RETURN_IF_ERROR(reducer.AllGather(values));
            if (values.front() < 4) return runtime::Internal("a wrong sum");
          }
          return absl::OkStatus();
        },
        PatientGroup(way));
    for (const absl::Status& status : statuses) REQUIRE(status.ToString() == "OK");
  }
}

TEST_CASE("a rank that is lost, hangs or is elsewhere ends a scatter or a gather of the others") {
  using Floats = std::span<float>;
  const std::vector<std::function<absl::Status(GradientReducer&, Floats)>> calls = {
      [](GradientReducer& reducer, Floats values) { return reducer.ReduceScatterSum(values); },
      [](GradientReducer& reducer, Floats values) { return reducer.AllGather(values); }};
  for (const std::int64_t way : kBothWays) {
    for (std::size_t call = 0; call < calls.size(); ++call) {
      const auto ends = [&](const GroupOptions& options, const doubles::RankWork& culprit) {
        std::atomic<int> ended = 0;
        auto statuses = TryRanks(
            3,
            [&](std::size_t rank, GradientReducer& reducer) {
              if (rank == 2) {
                const absl::Status end = culprit(rank, reducer);
                while (end.ok() && ended < 2) std::this_thread::yield();
                return end;
              }
              std::vector<float> values(1000);
              const absl::Status status = calls[call](reducer, values);
              ++ended;
              return status;
            },
            options);
        statuses.pop_back();
        return statuses;
      };
      INFO("way " << way << " call " << call);
      for (const absl::Status& end : ends(PatientGroup(way), [](std::size_t, GradientReducer&) {
             return runtime::Internal("");
           })) {
        REQUIRE(absl::IsUnavailable(end));
        REQUIRE(Mentions(end, "rank 2 was lost"));
      }
      for (const absl::Status& end : ends(Within(milliseconds(100), way),
                                          [](std::size_t, auto&) { return absl::OkStatus(); })) {
        REQUIRE(absl::IsDeadlineExceeded(end));
        REQUIRE(Mentions(end, "rank 2 did not come in time"));
      }
      for (const absl::Status& end :
           ends(PatientGroup(way), [&](std::size_t, GradientReducer& reducer) {
             std::vector<float> values(1000);
             return calls[1 - call](reducer, values);
           })) {
        REQUIRE(absl::IsInternal(end));
        REQUIRE(Mentions(end, "is out of step"));
      }
    }
  }
}

}  // namespace
}  // namespace shoal::collectives
