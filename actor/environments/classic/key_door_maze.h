// SPDX-License-Identifier: Apache-2.0
// Four rooms with a key and a locked door: a task of exploration, whose one reward chance does not
// find.
//
// The agent starts in the upper left room, the key lies in the upper right one, and the door from
// the lower left room to the lower right one, where the goal is, opens for who has the key. The
// goal terminates the episode with 1; nothing else earns anything. The shortest way takes 34 steps,
// and an episode is limited to 100. Nothing is random: a uniformly random policy succeeds with
// probability 3.3e-6, as the test computes exactly.
#pragma once

#include <string_view>

#include "actor/environments/classic/simulation.h"

namespace shoal::actor {

class KeyDoorMaze final : public Simulation {
 public:
  enum Action : std::int64_t { kUp = 0, kRight = 1, kDown = 2, kLeft = 3 };
  static constexpr int kSize = 11;
  // Walls, the start, the key, the door and the goal, row by row.
  static constexpr std::string_view kMap =
      "###########"
      "#S...#...K#"
      "#....#....#"
      "#.........#"
      "#....#....#"
      "##.########"
      "#....#....#"
      "#....D....#"
      "#....#....#"
      "#....#...G#"
      "###########";

  KeyDoorMaze();

  const SimulationSpec& spec() const override { return spec_; }
  void Reset(const EpisodeDraws& draws) override;
  // Moves by one cell. Walls, and the door without the key, hold the agent where it is.
  SimulationStep Step(std::int64_t action) override;
  // One number for each cell of the map, 1 where the agent is; then 1 if it has the key.
  void Observe(std::span<float> out) const override;

 private:
  const SimulationSpec spec_;
  int cell_ = 0;
  bool has_key_ = false;
};

}  // namespace shoal::actor
