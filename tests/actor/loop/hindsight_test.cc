// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/hindsight.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

namespace shoal::actor {
namespace {

const std::vector<Achievement> kAchieved = {{.step = 1, .goal = 10}, {.step = 3, .goal = 30},
                                            {.step = 3, .goal = 31}, {.step = 4, .goal = 10},
                                            {.step = 7, .goal = 70}, {.step = 7, .goal = 71}};

std::vector<std::uint64_t> Choose(const std::string& strategy, std::int64_t goals,
                                  std::uint64_t episode) {
  return ChooseGoals({.strategy = strategy, .goals = goals}, kAchieved,
                     {.seed = 5, .environment = 2, .episode = episode});
}

TEST_CASE("The final strategy takes the goals of the last step that achieved any") {
  const std::set<std::uint64_t> last = {70, 71};
  for (std::uint64_t episode = 0; episode < 50; ++episode) {
    const auto chosen = Choose("final", 4, episode);
    REQUIRE(std::set<std::uint64_t>(chosen.begin(), chosen.end()) == last);
    REQUIRE(Choose("final", 1, episode).size() == 1);
  }
}

TEST_CASE("The future strategy takes so many different goals, and all there are of fewer") {
  for (std::uint64_t episode = 0; episode < 50; ++episode) {
    const auto chosen = Choose("future", 3, episode);
    REQUIRE(chosen.size() == 3);
    REQUIRE(std::set<std::uint64_t>(chosen.begin(), chosen.end()).size() == 3);
    REQUIRE(Choose("future", 100, episode).size() == 5);
    REQUIRE(Choose("future", 3, episode) == chosen);
  }
  REQUIRE(ChooseGoals({.strategy = "future"}, {}, {}).empty());
}

TEST_CASE("A goal of the future is uniform among what the episode achieved") {
  constexpr int kEpisodes = 12000;
  std::map<std::uint64_t, double> counts;
  for (std::uint64_t episode = 0; episode < kEpisodes; ++episode) {
    ++counts[Choose("future", 1, episode).front()];
  }
  // The goal that two steps achieved counts twice.
  double chi_square = 0;
  for (const auto& [goal, count] : counts) {
    const double expected = kEpisodes / 6.0 * (goal == 10 ? 2 : 1);
    chi_square += (count - expected) * (count - expected) / expected;
  }
  // The 99.9 % quantile with 4 degrees of freedom.
  REQUIRE(chi_square < 18.47);
}

}  // namespace
}  // namespace shoal::actor
