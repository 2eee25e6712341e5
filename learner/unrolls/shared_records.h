// SPDX-License-Identifier: Apache-2.0
// What ranks that have folders of their own tell each other of them when they start: which versions
// are condemned, and which uses of unrolls were trained on.
//
// Every rank calls these functions. They return the reducer's errors, and DATA_LOSS, which names
// the rank, for a message that no rank sends.
#pragma once

#include "learner/unrolls/quarantine.h"
#include "learner/unrolls/unroll_ledger.h"
#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::learner {

// Makes each rank condemn what any rank condemns. It writes no file.
absl::Status ShareQuarantine(collectives::GradientReducer& reducer, Quarantine& quarantine);

// Adds the newest uses that each rank knows, at most 16,384, to the ledgers of the others.
absl::Status ShareLedger(collectives::GradientReducer& reducer, UnrollLedger& ledger);

}  // namespace shoal::learner
