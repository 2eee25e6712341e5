// SPDX-License-Identifier: Apache-2.0
// An optimiser for ranks that train together, whose memory is divided among them: stages 1 and 2 of
// ZeRO (Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models",
// 2020).
//
//   optimiser.ClearGradients();
//   ...                                    // backward passes add to the gradients
//   SHOAL_RETURN_IF_ERROR(optimiser.ReduceGradients());
//   SHOAL_ASSIGN_OR_RETURN(const double norm, optimiser.GradientNorm());
//   optimiser.ScaleGradient(...);          // by the same number on all ranks
//   SHOAL_RETURN_IF_ERROR(optimiser.Step(rate));
//
// Each rank updates its share of the parameters (rl/collectives/rank_share.h), and all ranks then
// have all parameters. All stages make the same sums in the same order and update the same ranges,
// so that parameters, norms and moments have the same bits in each of them.
//
// This header shows torch. Not thread-safe. Every rank makes the same calls in the same order.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/rank_share.h"
#include "rl/training/flat_optimiser.h"
#include "rl/training/zero_stage.h"

namespace shoal::training {

class ZeroOptimiser {
 public:
  // What is trained: float32, contiguous, on one device.
  struct Arrays {
    at::Tensor parameters;  // [n]
    // Each row is for one of the threads that run backward passes. In stage 2 the memory of these
    // and of all other tensors that share it is there only from ClearGradients to ReduceGradients.
    at::Tensor gradients;  // [rows, n]
    // As in FlatOptimiser.
    std::vector<FlatOptimiser::Part> parts;
  };

  // `reducer` must outlive this. One rank alone divides nothing, whatever the stage is. REQUIRES:
  // the options are valid.
  ZeroOptimiser(const OptimiserOptions& options, ZeroStage stage, Arrays arrays,
                collectives::GradientReducer& reducer);

  void ClearGradients();
  // Sums the gradients of all rows and ranks. In stage 2 this rank then has the sum of its share
  // alone. Returns the errors of the reducer.
  absl::Status ReduceGradients();
  // Returns the 2-norm of the sum, the same on all ranks. The errors are those of the reducer.
  absl::StatusOr<double> GradientNorm();
  void ScaleGradient(double factor);
  // Returns the errors of the reducer. Parameters are then of no use.
  absl::Status Step(double rate);

  // Returns the moments of all shares, on the CPU. They may be the optimiser's own memory. The
  // errors are those of the reducer.
  absl::StatusOr<FlatOptimiser::Moments> GatherMoments();
  // Keeps this rank's share. REQUIRES: the moments have the sizes that GatherMoments returns.
  void Restore(const FlatOptimiser::Moments& moments);

  // What this rank keeps from one step to the next.
  std::int64_t moment_bytes() const;
  std::int64_t gradient_bytes() const;

 private:
  std::int64_t size() const { return arrays_.parameters.numel(); }
  bool divides(ZeroStage stage) const { return stage_ >= stage; }

  collectives::GradientReducer& reducer_;
  const ZeroStage stage_;
  const bool has_second_moment_;
  const Arrays arrays_;
  const collectives::RankShare share_;
  // The gradient that a step reads: of this rank's share, and in stage 0 of all.
  const at::Tensor gradient_;
  FlatOptimiser optimiser_;
};

}  // namespace shoal::training
