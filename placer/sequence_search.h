// SPDX-License-Identifier: Apache-2.0
// Placements by a SequencePolicy that is trained with REINFORCE (Williams 1992) on one graph, as in
// Mirhoseini et al., "Device placement optimization with reinforcement learning", ICML 2017.
//
// The reward of a placement is -sqrt(its cost); a failed placement's cost is in
// placement/simulator.h. After every `gradient_every` placements there is one step of Adam on
//
//   mean over placements of  (reward - baseline) / scale  *  log-probability  +  entropy bonus
//
// with the gradient's norm held to 1. The baseline is a moving average of the batches' mean
// rewards, the first batch is its own, and the scale a moving average of how far rewards are from
// it, so that neither seconds nor the 100 s of failed placements decide the steps' size.
#pragma once

#include "placement/graph.h"
#include "placement/sequence_rule.h"
#include "placement/trial.h"

namespace shoal::placer {

// Tries options.evaluations placements. The same seed gives the same ones with the same number of
// torch's threads. The errors are those of placement::CheckSequence, and INTERNAL with what torch
// throws. REQUIRES: settings are within the bounds of their knobs, evaluations >=
// 1, and `simulator` is of `graph`.
absl::StatusOr<placement::Found> SearchBySequence(const placement::SequenceRule& rule,
                                                  const placement::Graph& graph,
                                                  placement::Simulator& simulator,
                                                  const placement::SearchOptions& options);

}  // namespace shoal::placer
