// SPDX-License-Identifier: Apache-2.0
// The numbers of the open unroll of one environment: what has been evaluated and not been cut yet.
//
// An open unroll of a policy that observes no contents is these numbers and nothing else, so they
// can be saved and gone on with (environment_state.h). Vectors hold one entry for each row, or as
// many bytes for each row as the row's layout says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rl/parameters/version.h"

namespace shoal::inference {

struct OpenUnroll {
  // The rows that it has in common with the unroll before, and that one's first sequence.
  std::size_t shared_rows = 0;
  std::uint64_t shared_with = 0;
  // Those before each row, or without overlap only before row 0.
  std::vector<float> core_states;
  std::vector<std::uint64_t> sequences;
  std::vector<std::byte> observations;
  std::vector<std::uint8_t> legal;
  std::vector<std::int64_t> actions;
  std::vector<float> box_actions;
  std::vector<float> log_probabilities;
  std::vector<float> values;
  std::vector<float> action_values;
  std::vector<float> rewards;
  std::vector<std::uint8_t> flags;
  std::vector<std::uint8_t> forced;
  std::vector<std::uint8_t> relabelled;
  std::vector<parameters::Version> versions;
  std::vector<std::int64_t> episodes;
  std::vector<std::byte> extras;

  // Drops the rows and keeps the memory.
  void Clear() {
    shared_rows = 0;
    shared_with = 0;
    core_states.clear();
    sequences.clear();
    observations.clear();
    legal.clear();
    actions.clear();
    box_actions.clear();
    log_probabilities.clear();
    values.clear();
    action_values.clear();
    rewards.clear();
    flags.clear();
    forced.clear();
    relabelled.clear();
    versions.clear();
    episodes.clear();
    extras.clear();
  }

  friend bool operator==(const OpenUnroll&, const OpenUnroll&) = default;
};

}  // namespace shoal::inference
