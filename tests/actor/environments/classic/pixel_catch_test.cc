// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/pixel_catch.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

constexpr int kSide = PixelCatch::kSide;
constexpr std::size_t kNumbers = std::size_t{kSide} * kSide * PixelCatch::kFrames;

std::vector<float> Seen(const PixelCatch& game) {
  std::vector<float> pixels(kNumbers);
  game.Observe(pixels);
  return pixels;
}

float At(const std::vector<float>& pixels, int row, int column, int frame) {
  return pixels[static_cast<std::size_t>((row * kSide + column) * PixelCatch::kFrames + frame)];
}

// Returns the first white column of rows [top, bottom) in the newest frame, or -1.
int LeftEdge(const std::vector<float>& pixels, int top, int bottom) {
  for (int column = 0; column < kSide; ++column) {
    for (int row = top; row < bottom; ++row) {
      if (At(pixels, row, column, PixelCatch::kFrames - 1) == 255) return column;
    }
  }
  return -1;
}

float Play(PixelCatch& game, const std::function<std::int64_t(const std::vector<float>&)>& policy) {
  float total = 0;
  for (int steps = 1;; ++steps) {
    const SimulationStep step = game.Step(policy(Seen(game)));
    total += step.reward;
    REQUIRE(step.terminated == (steps == game.spec().step_limit));
    if (step.terminated) return total;
  }
}

TEST_CASE("A player that follows the ball by its pixels catches all balls, and a random one few") {
  PixelCatch game;
  runtime::Random random(2);
  float by_chance = 0;
  for (std::uint64_t episode = 0; episode < 20; ++episode) {
    game.Reset({.seed = 1, .environment = 0, .episode = episode});
    const float followed = Play(game, [](const std::vector<float>& pixels) -> std::int64_t {
      const int target = LeftEdge(pixels, 0, kSide - 4) + 2;
      const int middle = LeftEdge(pixels, kSide - 4, kSide) + 6;
      return target < middle - 2 ? 0 : target > middle + 2 ? 2 : 1;
    });
    REQUIRE(followed == PixelCatch::kBalls);
    game.Reset({.seed = 1, .environment = 0, .episode = episode});
    by_chance += Play(game, [&](const std::vector<float>&) {
      return static_cast<std::int64_t>(random.Below(3));
    });
  }
  REQUIRE(by_chance < 0);
}

TEST_CASE(
    "A ball drifts by the same number of columns at every step and turns round at the walls") {
  PixelCatch game;
  int bounces = 0;
  for (std::uint64_t episode = 0; episode < 50; ++episode) {
    game.Reset({.seed = 1, .environment = 0, .episode = episode});
    int at = LeftEdge(Seen(game), 0, kSide - 4);
    int drift = 0;
    for (int step = 1; step < 20; ++step) {
      game.Step(1);
      const int now = LeftEdge(Seen(game), 0, kSide - 4);
      const bool at_wall = std::min(at, now) < 3 || std::max(at, now) > kSide - 4 - 3;
      if (!at_wall && drift != 0) {
        REQUIRE(std::abs(now - at) == std::abs(drift));
        if (now - at == -drift) ++bounces;
      }
      if (!at_wall) drift = now - at;
      at = now;
    }
    REQUIRE(std::abs(drift) <= 3);
  }
  REQUIRE(bounces > 0);
}

TEST_CASE("Each frame is black and white, and is the next older one of the step after it") {
  PixelCatch game;
  game.Reset({.seed = 1, .environment = 0, .episode = 0});
  std::vector<float> before = Seen(game);
  for (int frame = 0; frame < PixelCatch::kFrames - 1; ++frame) {
    REQUIRE(At(before, kSide - 1, kSide / 2, frame) == 0);
  }
  for (int i = 0; i < 30; ++i) {
    game.Step(i % 3);
    const std::vector<float> now = Seen(game);
    REQUIRE(std::all_of(now.begin(), now.end(), [](float x) { return x == 0 || x == 255; }));
    for (std::size_t pixel = 0; pixel < kNumbers; pixel += PixelCatch::kFrames) {
      REQUIRE(std::equal(now.begin() + pixel, now.begin() + pixel + PixelCatch::kFrames - 1,
                         before.begin() + pixel + 1));
    }
    before = now;
  }
}

}  // namespace
}  // namespace shoal::actor
