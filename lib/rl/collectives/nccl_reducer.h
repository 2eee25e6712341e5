// SPDX-License-Identifier: Apache-2.0
// A GradientReducer over NCCL with one GPU for each rank; built with SHOAL_CUDA.
//
// Arrays in the GPU's memory are summed where they are; others, and shares, which NCCL wants to be
// equally long, are staged through it. Sums have the same bits on all ranks, since NCCL reduces
// each element once and sends the result out. Calls may come from any thread, whatever device CUDA
// has for it, and leave it that device. NCCL never tells one rank that another has failed or hangs,
// so the ranks' sockets stay open and a call checks them while it waits.
//
// A call waits first for what was queued on the GPU's default stream, where torch computes, and on
// streams that wait for that one. A GPU that hangs there makes the call end with DEADLINE_EXCEEDED;
// CUDA may then hold the destructor until the process is killed.
#pragma once

#include <memory>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/socket_reducer.h"

namespace shoal::collectives {

// `sockets` brings the ranks together and reports their failures; `device` is the index of the GPU.
// Returns UNAVAILABLE with NCCL's or CUDA's reason, or DEADLINE_EXCEEDED when a rank does not come
// within options.join_timeout.
absl::StatusOr<std::unique_ptr<GradientReducer>> CreateNcclReducer(
    std::unique_ptr<SocketReducer> sockets, int device, const GroupOptions& options);

}  // namespace shoal::collectives
