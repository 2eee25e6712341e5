// SPDX-License-Identifier: Apache-2.0
// Decides which rank trains on an unroll that two ranks have sampled.
//
// Replay hands each use of an item out once. But a shard that dies before it acknowledged an item
// gets it again, and may then give the same use to another rank. Each rank's ledger knows only what
// the rank logged itself; here it also learns what the others are about to log.
#pragma once

#include <cstddef>
#include <vector>

#include "learner/unrolls/unroll_decoder.h"
#include "learner/unrolls/unroll_ledger.h"
#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::learner {

// Every rank calls this with its part of one round, with the same `share` on all. Drops from
// `unrolls` those that a lower rank has too, and adds the unrolls of the other ranks to `ledger`.
// Costs one reduction of 7 * ranks * share numbers, and nothing in a group of one. Returns the
// reducer's errors.
// REQUIRES: at most `share` unrolls.
absl::Status AgreeOnUnrolls(collectives::GradientReducer& reducer, std::size_t share,
                            UnrollLedger& ledger, std::vector<DecodedUnroll>& unrolls);

}  // namespace shoal::learner
