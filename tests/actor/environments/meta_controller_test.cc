// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/meta_controller.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace shoal::actor {
namespace {

// What was played so far, from the first episode on.
struct History {
  std::vector<std::size_t> policy = {};
  std::vector<double> episode_return = {};

  // The policy that the paper's formula prefers, computed anew from the last `window` episodes.
  std::size_t Best(std::size_t policies, std::size_t window, double width) const {
    const std::size_t begin = policy.size() > window ? policy.size() - window : 0;
    std::size_t best = 0;
    double greatest = -std::numeric_limits<double>::infinity();
    for (std::size_t one = 0; one < policies; ++one) {
      double sum = 0;
      int count = 0;
      for (std::size_t i = begin; i < policy.size(); ++i) {
        if (policy[i] != one) continue;
        sum += episode_return[i];
        ++count;
      }
      if (count == 0) return one;
      const double bound = sum / count + width * std::sqrt(1.0 / count);
      if (bound <= greatest) continue;
      greatest = bound;
      best = one;
    }
    return best;
  }
};

// A return that depends on the policy, changes half-way, and differs from episode to episode.
double ReturnOf(std::size_t policy, std::uint64_t episode) {
  const std::size_t good = episode < 150 ? 1 : 3;
  return (policy == good ? 2.0 : 0.5) + std::sin(static_cast<double>(episode * 7 + policy));
}

TEST_CASE("Without chance the policy of each episode is the one that a brute-force model prefers") {
  for (const std::size_t window : {5, 20, 90}) {
    MetaController controller({.policies = 5, .window = window, .width = 0.7, .epsilon = 0});
    History history;
    std::map<std::size_t, int> late;
    for (std::uint64_t episode = 0; episode < 300; ++episode) {
      const std::size_t policy = controller.Choose(4, episode);
      REQUIRE(policy == history.Best(5, window, 0.7));
      history.policy.push_back(policy);
      history.episode_return.push_back(ReturnOf(policy, episode));
      controller.Learn(policy, history.episode_return.back());
      if (episode >= 250) ++late[policy];
    }
    // The longer windows have plays to spare for the policy that has become the best.
    if (window >= 20) REQUIRE(late[3] > 20);
  }
}

TEST_CASE("Every policy plays once before the first one plays again") {
  MetaController controller({.policies = 6, .window = 50, .width = 1, .epsilon = 1});
  for (std::uint64_t episode = 0; episode < 6; ++episode) {
    REQUIRE(controller.Choose(9, episode) == episode);
    // An episode that is lost is played again by the same policy.
    REQUIRE(controller.Choose(9, episode) == episode);
    controller.Learn(episode, 0);
  }
}

TEST_CASE("The share epsilon of the episodes is played by policies that are drawn alike") {
  constexpr double kEpsilon = 0.5;
  MetaController controller({.policies = 4, .window = 30, .width = 1, .epsilon = kEpsilon});
  History history;
  int others = 0;
  constexpr int kEpisodes = 4000;
  for (std::uint64_t episode = 0; episode < kEpisodes; ++episode) {
    const std::size_t policy = controller.Choose(1, episode);
    if (policy != history.Best(4, 30, 1)) ++others;
    history.policy.push_back(policy);
    history.episode_return.push_back(ReturnOf(policy, episode));
    controller.Learn(policy, history.episode_return.back());
  }
  // Three of four draws are not the best one. Five standard deviations are 160.
  REQUIRE(std::abs(others - kEpisodes * 3 / 8) < 160);
}

TEST_CASE("Choices are a function of the seed, of environment and episode, and of the returns") {
  const auto choices = [](std::uint64_t seed, std::uint64_t environment) {
    MetaController controller({.policies = 8, .window = 40, .seed = seed});
    std::vector<std::size_t> chosen;
    for (std::uint64_t episode = 0; episode < 60; ++episode) {
      chosen.push_back(controller.Choose(environment, episode));
      controller.Learn(chosen.back(), ReturnOf(chosen.back(), episode));
    }
    return chosen;
  };
  REQUIRE(choices(1, 2) == choices(1, 2));
  REQUIRE(choices(1, 2) != choices(2, 2));
  REQUIRE(choices(1, 2) != choices(1, 3));
}

}  // namespace
}  // namespace shoal::actor
