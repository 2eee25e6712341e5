// SPDX-License-Identifier: Apache-2.0
// A GradientReducer over NCCL, one GPU a rank; built with SHOAL_CUDA.
//
// Values are staged through device memory. Sums are the same bits on all ranks, since NCCL reduces
// each element once and sends the result out.
#pragma once

#include <memory>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::collectives {

// `rendezvous` brings the ranks together and is not used after this call; `device`: index of the
// GPU. UNAVAILABLE with NCCL's or CUDA's reason.
absl::StatusOr<std::unique_ptr<GradientReducer>> CreateNcclReducer(GradientReducer& rendezvous,
                                                                   int device);

}  // namespace shoal::collectives
