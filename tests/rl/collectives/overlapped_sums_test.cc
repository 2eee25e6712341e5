// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/overlapped_sums.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "tests/doubles/ranks.h"

namespace shoal::collectives {
namespace {

using Units = std::vector<std::size_t>;

// Waits for what another thread does, for as long as a test may take.
void Await(std::promise<void>& what) {
  REQUIRE(what.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
}

TEST_CASE("units are summed from the last to the first, whatever is complete first") {
  for (const Units& complete : {Units{0, 1, 2, 3}, Units{3, 2, 1, 0}, Units{2, 0}, Units{}}) {
    Units collected;
    Units summed;
    OverlappedSums sums(4, 1,
                        {.collect = [&](std::size_t unit) { collected.push_back(unit); },
                         .sum =
                             [&](std::size_t unit) {
                               summed.push_back(unit);
                               return absl::OkStatus();
                             }});
    for (const std::size_t unit : complete) sums.Add(unit);
    REQUIRE(sums.Finish().ok());
    REQUIRE(summed == Units{3, 2, 1, 0});
    REQUIRE(Units(collected.begin(),
                  collected.begin() + static_cast<std::ptrdiff_t>(complete.size())) == complete);
    REQUIRE(collected.size() == 4);
  }
}

TEST_CASE("a unit is summed before the pass is over, once its parts are there") {
  std::vector<std::promise<void>> begun(2);
  Units collected;
  double seconds = 0;
  OverlappedSums sums(2, 2,
                      {.collect = [&](std::size_t unit) { collected.push_back(unit); },
                       .sum =
                           [&](std::size_t unit) {
                             seconds += 0.5;
                             begun[unit].set_value();
                             return absl::OkStatus();
                           },
                       .seconds = [&] { return seconds; }});
  sums.Add(1);
  REQUIRE(collected.empty());
  sums.Add(1);
  Await(begun[1]);
  REQUIRE(collected == Units{1});
  sums.Add(0);
  sums.Add(0);
  // The first sum has ended when the second one begins.
  Await(begun[0]);
  REQUIRE(sums.overlapped_seconds() >= 0.5);
  REQUIRE(sums.Finish().ok());
  REQUIRE(collected == Units{1, 0});
}

TEST_CASE("sums that begin when the pass is over hide nothing") {
  double seconds = 0;
  OverlappedSums sums(3, 1,
                      {.collect = [](std::size_t) {},
                       .sum =
                           [&](std::size_t) {
                             seconds += 1;
                             return absl::OkStatus();
                           },
                       .seconds = [&] { return seconds; }});
  REQUIRE(sums.Finish().ok());
  REQUIRE(seconds == 3);
  REQUIRE(sums.overlapped_seconds() == 0);
}

TEST_CASE("what a sum does beside its collective call hides nothing of another one") {
  std::promise<void> over;
  OverlappedSums sums(1, 1,
                      {.collect = [](std::size_t) {},
                       .sum =
                           [&](std::size_t) {
                             over.set_value();
                             return absl::OkStatus();
                           },
                       .seconds = [] { return 7.0; }});
  sums.Add(0);
  Await(over);
  REQUIRE(sums.Finish().ok());
  REQUIRE(sums.overlapped_seconds() == 0);
}

TEST_CASE("the first error is returned, and all units are treated alike") {
  Units summed;
  OverlappedSums sums(3, 1,
                      {.collect = [](std::size_t) {},
                       .sum = [&](std::size_t unit) -> absl::Status {
                         summed.push_back(unit);
                         if (unit == 2) return absl::OkStatus();
                         return absl::UnavailableError("unit " + std::to_string(unit));
                       }});
  const absl::Status end = sums.Finish();
  REQUIRE(absl::IsUnavailable(end));
  REQUIRE(doubles::Mentions(end, "unit 1"));
  REQUIRE(summed == Units{2, 1, 0});
}

TEST_CASE(
    "a pass that is given up lets the sum that runs end, and waits for no unit that is missing") {
  std::promise<void> begun;
  std::promise<void> go_on;
  Units summed;
  auto sums =
      std::make_unique<OverlappedSums>(3, 1,
                                       OverlappedSums::Calls{.collect = [](std::size_t) {},
                                                             .sum =
                                                                 [&](std::size_t unit) {
                                                                   begun.set_value();
                                                                   go_on.get_future().wait();
                                                                   summed.push_back(unit);
                                                                   return absl::OkStatus();
                                                                 }});
  sums->Add(2);
  Await(begun);
  std::thread gives_up([&] { sums.reset(); });
  go_on.set_value();
  gives_up.join();
  REQUIRE(summed == Units{2});
}

TEST_CASE("ranks whose units are complete in different orders get the same sums") {
  constexpr std::size_t kUnits = 3;
  const std::vector<Units> complete = {{0, 1, 2}, {2, 1, 0}, {}};
  std::vector<std::vector<std::vector<float>>> values(
      complete.size(), std::vector<std::vector<float>>(kUnits, std::vector<float>(5, 1)));
  doubles::RunRanks(complete.size(), [&](std::size_t rank, GradientReducer& reducer) {
    OverlappedSums sums(
        kUnits, 1,
        {.collect = [&, rank](std::size_t unit) { values[rank][unit][0] += 1; },
         .sum = [&, rank](std::size_t unit) { return reducer.AllReduceSum(values[rank][unit]); }});
    for (const std::size_t unit : complete[rank]) sums.Add(unit);
    SHOAL_RETURN_IF_ERROR(sums.Finish());
    return reducer.Barrier();
  });
  for (const auto& of_rank : values) {
    for (const std::vector<float>& unit : of_rank) {
      REQUIRE(unit == std::vector<float>{6, 3, 3, 3, 3});
    }
  }
}

}  // namespace
}  // namespace shoal::collectives
