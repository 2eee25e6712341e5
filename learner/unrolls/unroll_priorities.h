// SPDX-License-Identifier: Apache-2.0
// The new priorities of unrolls, as their shards are told them.
#pragma once

#include <span>
#include <vector>

#include "learner/unrolls/unroll_decoder.h"
#include "replay/client/sampler.h"

namespace shoal::learner {

// priorities[i] is that of unrolls[i]; unrolls beyond them keep theirs. REQUIRES: there are at
// least as many unrolls as priorities.
std::vector<replay::client::PriorityUpdate> PrioritiesOf(std::span<const DecodedUnroll> unrolls,
                                                         std::span<const float> priorities);

}  // namespace shoal::learner
