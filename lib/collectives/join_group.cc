// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "collectives/gradient_reducer.h"
#include "collectives/launch.h"
#include "collectives/socket_reducer.h"

namespace shoal::collectives {

absl::StatusOr<std::unique_ptr<GradientReducer>> JoinGroup() {
  SHOAL_ASSIGN_OR_RETURN(const RankEnvironment environment, ReadRankEnvironment());
  if (environment.world_size == 1) return std::make_unique<SingleRank>();
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<SocketReducer> reducer,
                         SocketReducer::Create(environment, SocketReducerOptions{}));
  return std::unique_ptr<GradientReducer>(std::move(reducer));
}

}  // namespace shoal::collectives
