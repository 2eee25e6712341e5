// SPDX-License-Identifier: Apache-2.0
// Frames of 84 x 84 pixels in which balls fall and a paddle catches them: a task of the size of
// preprocessed Atari frames that costs next to nothing to simulate, for benches of throughput.
//
// An observation is UINT8 [84, 84, 4]: the last four frames, the newest last, as Mnih et al. stack
// them ("Human-level control through deep reinforcement learning", Nature 518, 2015). The paddle is
// 12 pixels wide and moves by 4 a step. A ball of 4 x 4 pixels falls 4 rows a step, drifts
// sideways by up to 3 columns and bounces off the walls. Whether the paddle is under it when it
// arrives, 20 steps later, earns 1 or -1. An episode terminates after 10 balls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actor/environments/classic/simulation.h"

namespace shoal::actor {

class PixelCatch final : public Simulation {
 public:
  static constexpr int kSide = 84;
  static constexpr int kFrames = 4;
  static constexpr int kBalls = 10;

  PixelCatch();

  const SimulationSpec& spec() const override { return spec_; }
  void Reset(const EpisodeDraws& draws) override;
  // Action 0 moves the paddle to the left, 1 not at all and 2 to the right.
  SimulationStep Step(std::int64_t action) override;
  void Observe(std::span<float> out) const override;
  void ObserveFrame(std::span<std::byte> out) const override;

 private:
  void DropBall();
  // Draws the newest frame and forgets the oldest one.
  void Draw();
  void Fill(int row, int column, int height, int width);

  const SimulationSpec spec_;
  EpisodeDraws draws_ = {};
  int balls_ = 0;
  int ball_row_ = 0;
  int ball_column_ = 0;
  int drift_ = 0;
  int paddle_ = 0;
  // One little endian word for each pixel. Its bytes are the frames, the newest the last one.
  std::vector<std::uint32_t> pixels_;
};

}  // namespace shoal::actor
