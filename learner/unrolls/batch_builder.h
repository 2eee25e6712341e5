// SPDX-License-Identifier: Apache-2.0
// Lays decoded unrolls side by side: one rank's share of a round as the trainer wants it.
//
// Each content and each catalog is in the batch once, however many unrolls name it. Pure.
#pragma once

#include <span>

#include "learner/unrolls/unroll_decoder.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/policy_spec.h"
#include "rl/parameters/version.h"

namespace shoal::learner {

// Column b is unrolls[b]; a shorter unroll is padded with rows of weight 0. `current`: the newest
// version published; a row that an older epoch acted in counts as one publication staler than the
// epoch's first. No unrolls: a batch of no columns.
algorithms::UnrollBatch BuildBatch(const model::PolicySpec& spec,
                                   std::span<const DecodedUnroll> unrolls,
                                   const parameters::Version& current);

}  // namespace shoal::learner
