// SPDX-License-Identifier: Apache-2.0
// A GradientReducer that passes every call on to another one, measures it, and reports it to the
// process that launched this rank.
#pragma once

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "platform/runtime/mutex.h"
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
  // The group is measured by itself and reports to the same process. What is spent on its calls
  // counts here, too; the two may be used by different threads.
  absl::StatusOr<std::unique_ptr<GradientReducer>> Split(std::int64_t colour) override;
  Communication communication() const override { return spent_->total(); }

 private:
  // What calls have cost, those of groups included. Thread-safe.
  class Spent {
   public:
    // `whole`, which may be null, is that of the reducer that this one's group is a part of.
    explicit Spent(std::shared_ptr<Spent> whole) : whole_(std::move(whole)) {}
    void Add(std::size_t bytes, double seconds) ABSL_LOCKS_EXCLUDED(mutex_);
    Communication total() const ABSL_LOCKS_EXCLUDED(mutex_);

   private:
    const std::shared_ptr<Spent> whole_;
    mutable runtime::Mutex mutex_;
    Communication total_ ABSL_GUARDED_BY(mutex_);
  };

  MeasuredReducer(std::unique_ptr<GradientReducer> inner, RankProgress* progress,
                  std::chrono::milliseconds call_timeout, std::shared_ptr<Spent> whole);
  template <typename Call>
  absl::Status Measure(std::size_t bytes, const Call& call);

  const std::unique_ptr<GradientReducer> inner_;
  RankProgress* const progress_;
  const std::chrono::milliseconds call_timeout_;
  const std::shared_ptr<Spent> spent_;
};

}  // namespace shoal::collectives
