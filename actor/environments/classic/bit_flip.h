// SPDX-License-Identifier: Apache-2.0
// Bit flipping: n bits, each action flips one, and an episode is to make them equal to those of its
// goal (Andrychowicz et al. 2017, "Hindsight Experience Replay", section 3.1).
//
// A step earns -1 unless it reaches the goal, which earns 0 and terminates the episode. Bits and
// goal are uniform and differ, and an episode is limited to n steps. The best return is one less
// than the number of differing bits, negated. There are 2^n states, so for more than some ten bits
// a policy that has not learned sees nothing but -1.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "actor/environments/classic/simulation.h"

namespace shoal::actor {

class BitFlip final : public Simulation, public SimulationGoals {
 public:
  static constexpr int kMaximumBits = 62;

  // REQUIRES: 1 <= bits <= kMaximumBits.
  explicit BitFlip(int bits);

  const SimulationSpec& spec() const override { return spec_; }
  void Reset(const EpisodeDraws& draws) override;
  // Flips bit `action`, of which 0 is the lowest.
  SimulationStep Step(std::int64_t action) override;
  // The bits, then those of the goal, lowest first, each 0 or 1.
  void Observe(std::span<float> out) const override;
  SimulationGoals* goals() override { return this; }

  std::uint64_t pursued() const override { return goal_; }
  std::uint64_t achieved() const override { return state_; }
  void Pursue(std::uint64_t goal) override { goal_ = goal; }
  float reward_of_success() const override { return 0; }
  // As in "0110", lowest bit first.
  std::string SentenceOf(std::uint64_t goal) const override;

 private:
  const int bits_;
  const SimulationSpec spec_;
  std::uint64_t state_ = 0;
  std::uint64_t goal_ = 0;
};

}  // namespace shoal::actor
