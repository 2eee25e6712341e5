// SPDX-License-Identifier: Apache-2.0
// A GradientReducer over NCCL, one GPU a rank; built with SHOAL_CUDA.
//
// Values are staged through device memory. Sums are the same bits on all ranks, since NCCL reduces
// each element once and sends the result out. NCCL itself never tells one rank that another has
// failed or hangs: the ranks' sockets stay open for that, and a call looks at them while it waits.
#pragma once

#include <memory>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/socket_reducer.h"

namespace shoal::collectives {

// `sockets` brings the ranks together and carries their failures; `device` is the index of the GPU.
// UNAVAILABLE with NCCL's or CUDA's reason, DEADLINE_EXCEEDED when a rank does not come within
// options.join_timeout.
absl::StatusOr<std::unique_ptr<GradientReducer>> CreateNcclReducer(
    std::unique_ptr<SocketReducer> sockets, int device, const GroupOptions& options);

}  // namespace shoal::collectives
