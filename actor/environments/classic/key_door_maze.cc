// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/classic/key_door_maze.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace shoal::actor {
namespace {

// The change of a cell's index by each action.
constexpr std::array<int, 4> kMoves = {-KeyDoorMaze::kSize, 1, KeyDoorMaze::kSize, -1};

}  // namespace

KeyDoorMaze::KeyDoorMaze()
    : spec_({.name = "maze",
             .observation_shape = {static_cast<std::int64_t>(kMap.size()) + 1},
             .actions = kMoves.size(),
             .step_limit = 100,
             .success_return = 1}) {}

void KeyDoorMaze::Reset(const EpisodeDraws&) {
  cell_ = static_cast<int>(kMap.find('S'));
  has_key_ = false;
}

SimulationStep KeyDoorMaze::Step(std::int64_t action) {
  const int next = cell_ + kMoves[static_cast<std::size_t>(action)];
  const char there = kMap[static_cast<std::size_t>(next)];
  if (there == '#' || (there == 'D' && !has_key_)) return {};
  cell_ = next;
  has_key_ = has_key_ || there == 'K';
  const bool reached = there == 'G';
  return {.reward = reached ? 1.0F : 0.0F, .terminated = reached};
}

void KeyDoorMaze::Observe(std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0F);
  out[static_cast<std::size_t>(cell_)] = 1.0F;
  out.back() = has_key_ ? 1.0F : 0.0F;
}

}  // namespace shoal::actor
