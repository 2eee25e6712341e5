// SPDX-License-Identifier: Apache-2.0
// Groups among the ranks of a group.
#include <catch2/catch.hpp>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/measured_reducer.h"
#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

using doubles::kBothWays;
using doubles::Mentions;
using doubles::PatientGroup;
using doubles::TryRanks;

void RequireAllOk(const std::vector<absl::Status>& ends) {
  for (const absl::Status& end : ends) REQUIRE(end.ToString() == "OK");
}

}  // namespace

TEST_CASE("ranks of one colour add up among themselves, in the order of their ranks") {
  for (const std::int64_t way : kBothWays) {
    RequireAllOk(TryRanks(
        6,
        [](std::size_t rank, GradientReducer& all) -> absl::Status {
          // 0, 2, 4 and 1, 3, 5.
          SHOAL_ASSIGN_OR_RETURN(const auto group, all.Split(static_cast<std::int64_t>(rank % 2)));
          if (group->world_size() != 3) return runtime::Internal("a wrong size");
          if (group->rank() != static_cast<std::int64_t>(rank / 2)) {
            return runtime::Internal("a wrong rank");
          }
          for (std::size_t round = 0; round < 3; ++round) {
            std::vector<float> values(100, static_cast<float>(rank));
            SHOAL_RETURN_IF_ERROR(group->AllReduceSum(std::span<float>(values)));
            if (values.back() != (rank % 2 == 0 ? 6.0F : 9.0F)) {
              return runtime::Internal("a wrong sum");
            }
            // The larger group is of use meanwhile.
            double sum = 1;
            SHOAL_RETURN_IF_ERROR(all.AllReduceSum(std::span(&sum, 1)));
            if (sum != 6) return runtime::Internal("a wrong sum of all");
          }
          return absl::OkStatus();
        },
        PatientGroup(way)));
  }
}

TEST_CASE("a rank whose colour no other one gave is a group of one") {
  RequireAllOk(TryRanks(3, [](std::size_t rank, GradientReducer& all) -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(const auto group, all.Split(rank == 2 ? 7 : 1));
    return group->world_size() == (rank == 2 ? 1 : 2) ? group->Barrier()
                                                      : runtime::Internal("a wrong size");
  }));
  SingleRank alone;
  REQUIRE(alone.Split(3).value()->world_size() == 1);
  REQUIRE(absl::IsInvalidArgument(alone.Split(-1).status()));
}

TEST_CASE("groups are split into groups, and outlive the group that they come from") {
  RequireAllOk(TryRanks(4, [](std::size_t rank, GradientReducer& all) -> absl::Status {
    std::unique_ptr<GradientReducer> pair;
    {
      SHOAL_ASSIGN_OR_RETURN(const auto same, all.Split(0));
      SHOAL_ASSIGN_OR_RETURN(pair, same->Split(static_cast<std::int64_t>(rank / 2)));
    }
    double sum = static_cast<double>(rank);
    SHOAL_RETURN_IF_ERROR(pair->AllReduceSum(std::span(&sum, 1)));
    return sum == (rank < 2 ? 1 : 5) ? absl::OkStatus() : runtime::Internal("a wrong sum");
  }));
}

TEST_CASE("the errors of a group say which ranks it has, and leave the others alone") {
  const auto ends = TryRanks(4, [](std::size_t rank, GradientReducer& all) -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(const auto group, all.Split(static_cast<std::int64_t>(rank / 2)));
    if (rank == 3) {
      group->Abort(runtime::Internal("no memory"));
      return all.Barrier();
    }
    const absl::Status met = group->Barrier();
    SHOAL_RETURN_IF_ERROR(all.Barrier());
    return met;
  });
  REQUIRE(ends[0].ok());
  REQUIRE(ends[1].ok());
  REQUIRE(ends[3].ok());
  REQUIRE(absl::IsAborted(ends[2]));
  REQUIRE(runtime::Message(ends[2]) ==
          "in the group of ranks 2, 3, counted from 0: rank 1 failed alone: no memory");
}

TEST_CASE("ranks cannot be split after a failure, nor by a colour that is no number of a group") {
  const auto ends = TryRanks(2, [](std::size_t rank, GradientReducer& all) -> absl::Status {
    if (!absl::IsInvalidArgument(all.Split(-1).status()))
      return runtime::Internal("a colour of -1");
    if (rank == 1) {
      all.Abort(runtime::Internal("no memory"));
      return absl::OkStatus();
    }
    const absl::Status first = all.Split(0).status();
    return all.Split(0).status() == first ? first : runtime::Internal("another error");
  });
  REQUIRE(absl::IsAborted(ends[0]));
  REQUIRE(Mentions(ends[0], "rank 1 failed alone: no memory"));
}

TEST_CASE("a measured group reports its calls to the process that launched the rank") {
  std::vector<RankProgress> progress(2);
  const RankEnvironment place = doubles::NewGroup(2);
  std::vector<absl::Status> ends(2);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      ends[rank] = [&]() -> absl::Status {
        SHOAL_ASSIGN_OR_RETURN(auto sockets, SocketReducer::Create(doubles::MemberOf(place, rank),
                                                                   doubles::kPatientGroup));
        MeasuredReducer all(std::move(sockets), &progress[rank], std::chrono::seconds(1));
        SHOAL_ASSIGN_OR_RETURN(const auto group, all.Split(0));
        if (all.communication().calls != 1) return runtime::Internal("a split is one call");
        SHOAL_RETURN_IF_ERROR(group->Barrier());
        return group->communication().calls == 1 ? absl::OkStatus()
                                                 : runtime::Internal("a barrier is one call");
      }();
    });
  }
  for (std::thread& thread : threads) thread.join();
  RequireAllOk(ends);
  for (const RankProgress& one : progress) {
    REQUIRE(one.calls == 4);
    REQUIRE(one.call_timeout_ms == 1000);
  }
}

}  // namespace shoal::collectives
