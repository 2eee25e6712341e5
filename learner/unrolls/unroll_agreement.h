// SPDX-License-Identifier: Apache-2.0
// Which rank trains on an unroll that two of them drew.
//
// Replay hands an item out once, but a shard that dies before it acknowledged an item gets it again
// and may then give it to another rank. Each rank's ledger knows what it logged itself; here it
// also hears what the others are about to log.
#pragma once

#include <cstddef>
#include <vector>

#include "learner/unrolls/unroll_decoder.h"
#include "learner/unrolls/unroll_ledger.h"
#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::learner {

// Every rank calls it with its part of one round, the same `share` on all. REQUIRES: at most
// `share` unrolls. What a lower rank has too is dropped from `unrolls`; the others' unrolls enter
// `ledger` as known. Costs one reduction of 7 * ranks * share numbers; nothing in a group of one.
// Errors: the reducer's.
absl::Status AgreeOnUnrolls(collectives::GradientReducer& reducer, std::size_t share,
                            UnrollLedger& ledger, std::vector<DecodedUnroll>& unrolls);

}  // namespace shoal::learner
