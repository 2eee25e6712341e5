// SPDX-License-Identifier: Apache-2.0
// What inference must know to go on with environments where they were, and what keeps it.
//
// In deterministic mode the state of all environments is kept between two rounds, so that a run
// that was killed goes on with the same bits. The actor has no state of its own: an environment is
// what its episode's start and the actions since have made of it, and those are here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "inference/core/open_unroll.h"
#include "inference/core/row_block.h"
#include "rl/parameters/version.h"

namespace shoal::inference {

struct EnvironmentState {
  std::uint64_t environment = 0;
  std::uint64_t incarnation = 0;
  // The episode that runs, and its actions. The last one was chosen, and no row says yet what
  // followed.
  std::uint64_t episode = 0;
  EpisodeActions actions;
  std::uint64_t next_sequence = 0;
  std::vector<float> core_state;  // [S]
  OpenUnroll unroll;

  friend bool operator==(const EnvironmentState&, const EnvironmentState&) = default;
};

// The environments at the end of a round.
struct RoundState {
  // The update that the unrolls of this round are for, counted from 1.
  std::uint64_t update = 0;
  // The version that acted in the round.
  parameters::Version acted;
  std::vector<EnvironmentState> environments;

  friend bool operator==(const RoundState&, const RoundState&) = default;
};

// Makes of a round's state one of the epoch that begins at `current`, whose parameters are those of
// the round's update. Versions in the open unrolls keep their distance from `current`. Environments
// get a new incarnation, so their unrolls are others than those that they delivered since then.
void BeginEpochAt(RoundState& state, const parameters::Version& current);

// Where the states of rounds are kept: a folder, or a test.
class RoundStates {
 public:
  virtual ~RoundStates() = default;
  // Keeps the state of a round. Drops those before it but the last one and those that Hold named,
  // and those after it, which are of a future that did not happen. What cannot be kept is logged.
  virtual void Keep(const RoundState& state) = 0;
  // There is a checkpoint of `update`, so the state of its round is kept for longer.
  virtual void Hold(std::uint64_t update) = 0;
  // Returns the state of the round whose unrolls made `update`, if it is kept. Where only others
  // are, that is logged.
  virtual std::optional<RoundState> Find(std::uint64_t update) = 0;
};

}  // namespace shoal::inference
