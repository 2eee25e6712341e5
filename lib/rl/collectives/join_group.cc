// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/launch.h"
#include "rl/collectives/socket_reducer.h"
#ifdef SHOAL_CUDA
#include "rl/collectives/nccl_reducer.h"
#endif

namespace shoal::collectives {
namespace {

#ifndef SHOAL_CUDA
absl::StatusOr<std::unique_ptr<GradientReducer>> CreateNcclReducer(GradientReducer&, int) {
  return runtime::FailedPrecondition("ranks over NCCL needs a build with SHOAL_CUDA=ON");
}
#endif

}  // namespace

absl::StatusOr<std::unique_ptr<GradientReducer>> JoinGroup(Reduction reduction) {
  SHOAL_ASSIGN_OR_RETURN(const RankEnvironment environment, ReadRankEnvironment());
  if (environment.world_size == 1) return std::make_unique<SingleRank>();
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<SocketReducer> reducer,
                         SocketReducer::Create(environment, SocketReducerOptions{}));
  if (reduction == Reduction::kNccl) {
    return CreateNcclReducer(*reducer, static_cast<int>(environment.local_rank));
  }
  return std::unique_ptr<GradientReducer>(std::move(reducer));
}

}  // namespace shoal::collectives
