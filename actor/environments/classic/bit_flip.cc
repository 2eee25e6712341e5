// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/bit_flip.h"

namespace shoal::actor {

BitFlip::BitFlip(int bits)
    : bits_(bits),
      spec_({.name = "bit_flip",
             .observation_shape = {2, bits},
             .actions = bits,
             .step_limit = bits,
             .success_return = 1.0 - bits,
             .has_goals = true}) {}

void BitFlip::Reset(const EpisodeDraws& draws) {
  state_ = 0;
  std::uint64_t difference = 0;
  for (int bit = 0; bit < bits_; ++bit) {
    state_ |= static_cast<std::uint64_t>(draws.Below(2, static_cast<std::uint32_t>(bit))) << bit;
  }
  // Differences are drawn until there is one.
  for (int draw = bits_; difference == 0; draw += bits_) {
    for (int bit = 0; bit < bits_; ++bit) {
      const int drawn = draws.Below(2, static_cast<std::uint32_t>(draw + bit));
      difference |= static_cast<std::uint64_t>(drawn) << bit;
    }
  }
  goal_ = state_ ^ difference;
}

SimulationStep BitFlip::Step(std::int64_t action) {
  state_ ^= std::uint64_t{1} << action;
  const bool reached = state_ == goal_;
  return {.reward = reached ? 0.0F : -1.0F, .terminated = reached};
}

void BitFlip::Observe(std::span<float> out) const {
  for (int bit = 0; bit < bits_; ++bit) {
    const auto place = static_cast<std::size_t>(bit);
    out[place] = static_cast<float>(state_ >> bit & 1);
    out[place + static_cast<std::size_t>(bits_)] = static_cast<float>(goal_ >> bit & 1);
  }
}

std::string BitFlip::SentenceOf(std::uint64_t goal) const {
  std::string text;
  for (int bit = 0; bit < bits_; ++bit) text += (goal >> bit & 1) != 0 ? '1' : '0';
  return text;
}

}  // namespace shoal::actor
