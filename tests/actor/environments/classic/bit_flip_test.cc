// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/bit_flip.h"

#include <bit>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

namespace shoal::actor {
namespace {

TEST_CASE("Flipping each bit that differs reaches the goal with the best return there is") {
  for (const int bits : {1, 2, 7, 12, BitFlip::kMaximumBits}) {
    BitFlip game(bits);
    REQUIRE(game.spec().step_limit == bits);
    for (std::uint64_t episode = 0; episode < 50; ++episode) {
      game.Reset({.seed = 1, .environment = 2, .episode = episode});
      const std::uint64_t difference = game.achieved() ^ game.pursued();
      REQUIRE(difference != 0);
      REQUIRE((difference >> (bits - 1) >> 1) == 0);
      float total = 0;
      for (std::uint64_t left = difference; left != 0; left &= left - 1) {
        const SimulationStep step = game.Step(std::countr_zero(left));
        REQUIRE(step.terminated == (std::has_single_bit(left)));
        total += step.reward;
      }
      REQUIRE(total == 1.0F - static_cast<float>(std::popcount(difference)));
      REQUIRE(total >= static_cast<float>(game.spec().success_return));
    }
  }
}

TEST_CASE("An episode that never reaches its goal returns less than any that does") {
  BitFlip game(5);
  game.Reset({.seed = 1, .environment = 0, .episode = 0});
  game.Pursue(game.achieved() ^ 0b10000U);
  float total = 0;
  for (int step = 0; step < game.spec().step_limit; ++step) {
    const SimulationStep taken = game.Step(step % 2);
    REQUIRE_FALSE(taken.terminated);
    total += taken.reward;
  }
  REQUIRE(total < static_cast<float>(game.spec().success_return));
}

TEST_CASE("The agent sees the bits and those of the goal, and sentences have them in that order") {
  BitFlip game(4);
  std::set<std::vector<float>> seen;
  for (std::uint64_t episode = 0; episode < 2000; ++episode) {
    game.Reset({.seed = 3, .environment = 1, .episode = episode});
    std::vector<float> observed(8);
    game.Observe(observed);
    std::string text;
    for (const float number : observed) text += number == 1 ? '1' : '0';
    REQUIRE(text == game.SentenceOf(game.achieved()) + game.SentenceOf(game.pursued()));
    seen.insert(observed);
    game.Step(2);
    std::vector<float> after(8);
    game.Observe(after);
    observed[2] = 1 - observed[2];
    REQUIRE(after == observed);
  }
  // All starts with all other goals.
  REQUIRE(seen.size() == 16 * 15);
}

}  // namespace
}  // namespace shoal::actor
