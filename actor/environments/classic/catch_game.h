// SPDX-License-Identifier: Apache-2.0
// A ball that falls down a board and a paddle that must be under it: Catch, as bsuite has it
// (Osband et al., "Behaviour suite for reinforcement learning", ICLR 2020).
//
// The board has 10 rows and 5 columns. The ball starts in a random column of the top row and falls
// one row a step; the paddle starts in the middle of the bottom row and moves by one column at
// most. An episode terminates after 9 steps, when the ball reaches the bottom: with 1 if the paddle
// is there, else with -1. All other steps earn nothing.
#pragma once

#include "actor/environments/classic/simulation.h"

namespace shoal::actor {

class CatchGame final : public Simulation {
 public:
  static constexpr int kRows = 10;
  static constexpr int kColumns = 5;

  CatchGame();

  const SimulationSpec& spec() const override { return spec_; }
  void Reset(const EpisodeDraws& draws) override;
  // Action 0 moves the paddle to the left, 1 not at all and 2 to the right.
  SimulationStep Step(std::int64_t action) override;
  // The board row by row, with 1 where the ball and the paddle are.
  void Observe(std::span<float> out) const override;

 private:
  const SimulationSpec spec_;
  int ball_row_ = 0;
  int ball_column_ = 0;
  int paddle_ = 0;
};

}  // namespace shoal::actor
