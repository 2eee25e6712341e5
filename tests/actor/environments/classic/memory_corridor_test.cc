// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/memory_corridor.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <vector>

namespace shoal::actor {
namespace {

using Corridor = MemoryCorridor;
enum Sight : std::size_t { kCueUp, kCueDown, kCorridor, kJunction };

Sight Seen(const Corridor& corridor) {
  std::array<float, 4> numbers = {};
  corridor.Observe(numbers);
  REQUIRE(std::count(numbers.begin(), numbers.end(), 1.0F) == 1);
  return static_cast<Sight>(std::find(numbers.begin(), numbers.end(), 1.0F) - numbers.begin());
}

// Returns an episode whose cue is up or down.
EpisodeDraws EpisodeWithCue(Corridor& corridor, bool up) {
  for (std::uint64_t episode = 0;; ++episode) {
    const EpisodeDraws draws{.seed = 4, .environment = 0, .episode = episode};
    corridor.Reset(draws);
    if (Seen(corridor) == (up ? kCueUp : kCueDown)) return draws;
  }
}

// The probability of each action at each sight.
using Policy = std::array<std::array<double, 3>, 4>;

// Returns the probability that a policy without a memory turns the right way within the limit, by
// following the distribution over the corridor's cells. It is a model of its own.
double SuccessOf(const Policy& policy, std::int64_t length, int limit) {
  double success = 0;
  for (const bool up : {true, false}) {
    std::vector<double> at(static_cast<std::size_t>(length) + 1);
    at[0] = 0.5;
    for (int step = 0; step < limit; ++step) {
      std::vector<double> next(at.size());
      for (std::size_t cell = 0; cell < at.size(); ++cell) {
        const bool junction = cell + 1 == at.size();
        const Sight sight = step == 0 ? (up ? kCueUp : kCueDown) : junction ? kJunction : kCorridor;
        const auto& act = policy[sight];
        if (junction) {
          success += at[cell] * act[up ? Corridor::kUp : Corridor::kDown];
          next[cell] += at[cell] * act[Corridor::kForward];
        } else {
          next[cell + 1] += at[cell] * act[Corridor::kForward];
          next[cell] += at[cell] * (act[Corridor::kUp] + act[Corridor::kDown]);
        }
      }
      at = next;
    }
  }
  return success;
}

// Plays one episode of a policy that always takes the same action at a sight.
bool Succeeds(Corridor& corridor, const EpisodeDraws& draws, const Policy& policy) {
  corridor.Reset(draws);
  for (int step = 0; step < corridor.spec().step_limit; ++step) {
    const auto& act = policy[Seen(corridor)];
    const SimulationStep taken =
        corridor.Step(std::find(act.begin(), act.end(), 1.0) - act.begin());
    if (taken.terminated) return taken.reward == 1;
    REQUIRE(taken.reward == 0);
  }
  return false;
}

// Calls `visit` with all policies whose probabilities are multiples of 1 / parts.
template <typename Visit>
void ForEachPolicy(int parts, const Visit& visit) {
  std::vector<std::array<double, 3>> choices;
  for (int a = 0; a <= parts; ++a) {
    for (int b = 0; a + b <= parts; ++b) {
      choices.push_back({double(a) / parts, double(b) / parts, double(parts - a - b) / parts});
    }
  }
  for (const auto& first : choices) {
    for (const auto& second : choices) {
      for (const auto& third : choices) {
        for (const auto& fourth : choices) visit(Policy{first, second, third, fourth});
      }
    }
  }
}

TEST_CASE("An agent that remembers the cue always turns the right way") {
  Corridor corridor(7);
  for (const bool up : {true, false}) {
    EpisodeWithCue(corridor, up);
    for (int i = 0; i < 7; ++i) {
      const SimulationStep step = corridor.Step(Corridor::kForward);
      REQUIRE_FALSE(step.terminated);
      REQUIRE(step.reward == 0);
      REQUIRE(Seen(corridor) == (i < 6 ? kCorridor : kJunction));
    }
    const SimulationStep end = corridor.Step(up ? Corridor::kUp : Corridor::kDown);
    REQUIRE(end.terminated);
    REQUIRE(end.reward == 1);
  }
}

TEST_CASE("The best policy without a memory is right in half of the episodes") {
  constexpr std::int64_t kLength = 3;
  const int limit = Corridor(kLength).spec().step_limit;
  double best = 0;
  ForEachPolicy(
      4, [&](const Policy& policy) { best = std::max(best, SuccessOf(policy, kLength, limit)); });
  REQUIRE(best == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("Policies without a memory fare as an exact model of the corridor says") {
  Corridor corridor(3);
  const EpisodeDraws up = EpisodeWithCue(corridor, true);
  const EpisodeDraws down = EpisodeWithCue(corridor, false);
  ForEachPolicy(1, [&](const Policy& policy) {
    const double share = 0.5 * (Succeeds(corridor, up, policy) ? 1 : 0) +
                         0.5 * (Succeeds(corridor, down, policy) ? 1 : 0);
    REQUIRE(share == SuccessOf(policy, 3, corridor.spec().step_limit));
  });
}

TEST_CASE("The cue is gone after the first step, also for who stays at the start") {
  Corridor corridor(5);
  EpisodeWithCue(corridor, true);
  corridor.Step(Corridor::kDown);
  REQUIRE(Seen(corridor) == kCorridor);
}

}  // namespace
}  // namespace shoal::actor
