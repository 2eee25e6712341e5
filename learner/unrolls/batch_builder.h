// SPDX-License-Identifier: Apache-2.0
// Builds one rank's batch for the trainer from decoded unrolls. Pure.
//
// The batch holds each content and each catalog once, however many unrolls name it.
#pragma once

#include <span>

#include "learner/unrolls/unroll_decoder.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/policy_spec.h"
#include "rl/parameters/version.h"

namespace shoal::learner {

// Column b is unrolls[b]; shorter unrolls are padded with rows of weight 0. `current` is the newest
// published version. A row of an older epoch counts as one publication staler than the first of the
// current epoch. The importance weights are (least probability / probability)^importance_exponent,
// the greatest possible one being 1. Without unrolls the batch has no columns.
algorithms::UnrollBatch BuildBatch(const model::PolicySpec& spec,
                                   std::span<const DecodedUnroll> unrolls,
                                   const parameters::Version& current, double importance_exponent);

}  // namespace shoal::learner
