// SPDX-License-Identifier: Apache-2.0
// Hindsight: which of the goals that an episode reached by accident it is told again under
// (Andrychowicz et al. 2017, "Hindsight Experience Replay", section 3.3). Pure.
//
// The paper relabels single transitions. Here whole episodes are told again, each up to the step
// that achieves the goal, so that returns over several steps, sequences and memories stay those of
// one goal. With "future" goals are drawn uniformly from what the episode achieved. A row is then
// told under goals that are uniform among what came after it, as in the paper, though rows of the
// beginning are told more often than those of the end. With "final" the goals are those of the last
// step that achieved any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/config.h"

namespace shoal::actor {

// The group [actor.hindsight].
struct HindsightOptions {
  // "none", "final" or "future".
  std::string strategy = "none";
  // k: the most goals under which an episode is told again.
  std::int64_t goals = 4;

  bool enabled() const { return strategy != "none"; }
  void Visit(runtime::Visitor& visitor);
};

struct Achievement {
  // The number of the step, ascending.
  std::size_t step = 0;
  std::uint64_t goal = 0;
};

// Where the draws of an episode come from.
struct HindsightDraws {
  std::uint64_t seed = 0;
  std::uint64_t environment = 0;
  std::uint64_t episode = 0;
};

// Returns the goals to tell the episode again under, each once, in the order in which they were
// drawn. Fewer than `options.goals` if fewer were achieved. REQUIRES: options.enabled().
std::vector<std::uint64_t> ChooseGoals(const HindsightOptions& options,
                                       std::span<const Achievement> achieved,
                                       const HindsightDraws& draws);

}  // namespace shoal::actor
