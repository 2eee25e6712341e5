// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/catch_game.h"

#include <algorithm>

namespace shoal::actor {

CatchGame::CatchGame()
    : spec_({.name = "catch",
             .observation_shape = {kRows, kColumns},
             .actions = 3,
             .step_limit = kRows,
             .success_return = 1}) {}

void CatchGame::Reset(const EpisodeDraws& draws) {
  ball_row_ = 0;
  ball_column_ = draws.Below(kColumns, 0);
  paddle_ = kColumns / 2;
}

SimulationStep CatchGame::Step(std::int64_t action) {
  paddle_ = std::clamp(paddle_ + static_cast<int>(action) - 1, 0, kColumns - 1);
  ++ball_row_;
  if (ball_row_ < kRows - 1) return {};
  return {.reward = paddle_ == ball_column_ ? 1.0F : -1.0F, .terminated = true};
}

void CatchGame::Observe(std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0F);
  out[static_cast<std::size_t>(ball_row_ * kColumns + ball_column_)] = 1.0F;
  out[static_cast<std::size_t>((kRows - 1) * kColumns + paddle_)] = 1.0F;
}

}  // namespace shoal::actor
