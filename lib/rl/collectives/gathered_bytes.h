// SPDX-License-Identifier: Apache-2.0
// Gives every rank the bytes of all ranks, which may have any length: lists of what each holds, and
// parts of files that some lack.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::collectives {

// Every rank calls this with bytes of its own. Returns those of each rank, by rank. Costs a
// reduction of one number a rank, and an AllGather for each 16 MiB, which a rank with less to send
// fills with zeros. Returns the reducer's errors, and RESOURCE_EXHAUSTED, on all ranks alike, when
// one has more than `max_bytes`; the message names it.
absl::StatusOr<std::vector<std::string>> GatherBytes(GradientReducer& reducer, std::string_view own,
                                                     std::size_t max_bytes);

}  // namespace shoal::collectives
