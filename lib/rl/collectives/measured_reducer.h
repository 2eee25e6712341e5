// SPDX-License-Identifier: Apache-2.0
// A GradientReducer that passes every call on to another one, measures it, and reports it to the
// process that launched this rank.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/rank_progress.h"

namespace shoal::collectives {

class MeasuredReducer final : public GradientReducer {
 public:
  // `progress` may be null; otherwise it outlives this. `call_timeout` is that of `inner`.
  MeasuredReducer(std::unique_ptr<GradientReducer> inner, RankProgress* progress,
                  std::chrono::milliseconds call_timeout);

  std::int64_t rank() const override { return inner_->rank(); }
  std::int64_t world_size() const override { return inner_->world_size(); }
  std::int64_t gpu() const override { return inner_->gpu(); }
  absl::Status AllReduceSum(std::span<float> values) override;
  absl::Status AllReduceSum(std::span<double> values) override;
  absl::Status AllReduceSumCompressed(std::span<float> values, std::span<float> residual) override;
  bool compresses(std::size_t elements) const override { return inner_->compresses(elements); }
  absl::Status AllReduceMax(std::span<double> values) override;
  absl::Status AllReduceMin(std::span<double> values) override;
  absl::Status ReduceScatterSum(std::span<float> values) override;
  absl::Status AllGather(std::span<float> values) override;
  absl::Status Broadcast(std::span<std::byte> bytes) override;
  absl::Status Barrier() override;
  void Abort(const absl::Status& reason) override { inner_->Abort(reason); }
  absl::StatusOr<std::vector<int>> TakeConnections() override { return inner_->TakeConnections(); }
  // The group is measured by itself and reports to the same process.
  absl::StatusOr<std::unique_ptr<GradientReducer>> Split(std::int64_t colour) override;
  Communication communication() const override { return communication_; }

 private:
  template <typename Call>
  absl::Status Measure(std::size_t bytes, const Call& call);

  const std::unique_ptr<GradientReducer> inner_;
  RankProgress* const progress_;
  const std::chrono::milliseconds call_timeout_;
  Communication communication_;
};

}  // namespace shoal::collectives
