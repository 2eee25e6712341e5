// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/gradient_reducer.h"

#include <limits>
#include <string>
#include <utility>

#include "rl/collectives/launch.h"
#include "rl/collectives/measured_reducer.h"
#include "rl/collectives/socket_reducer.h"
#ifdef SHOAL_CUDA
#include "rl/collectives/nccl_reducer.h"
#endif

namespace shoal::collectives {
namespace {

// The type URL of the payload that marks a failure shared by all ranks.
constexpr const char* kSharedMark = "shoal.collectives/shared_failure";

#ifdef SHOAL_CUDA
absl::StatusOr<std::unique_ptr<GradientReducer>> ConnectGpus(std::unique_ptr<SocketReducer> sockets,
                                                             const RankEnvironment& environment,
                                                             const GroupOptions& options) {
  const absl::StatusOr<std::int64_t> gpu =
      options.find_gpu ? options.find_gpu(environment.local_rank) : environment.local_rank;
  if (!gpu.ok()) {
    sockets->Abort(gpu.status());
    return gpu.status();
  }
  return CreateNcclReducer(std::move(sockets), static_cast<int>(*gpu), options);
}
#else
absl::StatusOr<std::unique_ptr<GradientReducer>> ConnectGpus(std::unique_ptr<SocketReducer>,
                                                             const RankEnvironment&,
                                                             const GroupOptions&) {
  return runtime::FailedPrecondition("ranks over NCCL need a build with SHOAL_CUDA=ON");
}
#endif

absl::StatusOr<std::unique_ptr<GradientReducer>> Connect(const RankEnvironment& environment,
                                                         const GroupOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<SocketReducer> reducer,
                         SocketReducer::Create(environment, options));
  if (options.reduction == Reduction::kNccl) {
    return ConnectGpus(std::move(reducer), environment, options);
  }
  return std::unique_ptr<GradientReducer>(std::move(reducer));
}

}  // namespace

absl::StatusOr<std::vector<int>> GradientReducer::TakeConnections() {
  return runtime::FailedPrecondition("the ranks are connected by another transport than sockets");
}

absl::Status GradientReducer::AllReduceSumCompressed(std::span<float>, std::span<float>) {
  return runtime::FailedPrecondition("gradients are compressed over sockets alone");
}

absl::Status CheckColour(std::int64_t colour) {
  if (colour >= 0 && colour <= std::numeric_limits<std::int32_t>::max()) return absl::OkStatus();
  return runtime::InvalidArgument("the colour " + std::to_string(colour) +
                                  " of a group is not from 0 to 2^31 - 1");
}

absl::StatusOr<std::unique_ptr<GradientReducer>> SingleRank::Split(std::int64_t colour) {
  SHOAL_RETURN_IF_ERROR(CheckColour(colour));
  return std::make_unique<SingleRank>();
}

absl::StatusOr<std::unique_ptr<GradientReducer>> GradientReducer::Split(std::int64_t) {
  return runtime::FailedPrecondition(
      "groups among the ranks, as for tensor parallelism, are made over sockets alone");
}

Reduction ReductionNamed(const std::string& name) {
  return name == "nccl" ? Reduction::kNccl : Reduction::kSocket;
}

absl::Status SharedFailure(std::string message) {
  absl::Status status = runtime::Internal(std::move(message));
  status.SetPayload(kSharedMark, absl::Cord());
  return status;
}

bool IsShared(const absl::Status& status) { return status.GetPayload(kSharedMark).has_value(); }

absl::StatusOr<std::unique_ptr<GradientReducer>> JoinGroup(const GroupOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const RankEnvironment environment, ReadRankEnvironment());
  if (environment.world_size == 1) return std::make_unique<SingleRank>();
  auto reducer = Connect(environment, options);
  if (!reducer.ok()) {
    if (options.progress != nullptr) options.progress->failure = reducer.status().code();
    return reducer.status();
  }
  return std::make_unique<MeasuredReducer>(*std::move(reducer), options.progress,
                                           options.call_timeout);
}

}  // namespace shoal::collectives
