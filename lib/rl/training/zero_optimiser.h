// SPDX-License-Identifier: Apache-2.0
// An optimiser for ranks that train together, whose memory is divided among them: stages 1 to 3 of
// ZeRO (Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models",
// 2020).
//
// In stages 0 to 2 a step is
//
//   optimiser.ClearGradients();
//   ...                                    // backward passes add to the gradients
//   SHOAL_RETURN_IF_ERROR(optimiser.ReduceGradients());
//   SHOAL_ASSIGN_OR_RETURN(const double norm, optimiser.GradientNorm());
//   optimiser.ScaleGradient(...);          // by the same number on all ranks
//   SHOAL_RETURN_IF_ERROR(optimiser.Step(rate));
//
// where BeginSums in place of ReduceGradients sums while backward passes run, and in stage 3 the
// first three lines are, for one unit after another,
//
//   SHOAL_RETURN_IF_ERROR(optimiser.GatherUnit(unit));
//   optimiser.ClearGradient(unit);
//   ...                                    // the backward pass through this unit
//   optimiser.ReleaseUnit(unit);
//   SHOAL_RETURN_IF_ERROR(optimiser.ReduceGradient(unit));
//
// Parameters come in units, each an array of its own. Each rank updates its share of every unit
// (rl/collectives/rank_share.h). In stages 1 and 2 all ranks then have all parameters. All stages
// make the same sums in the same order and update the same ranges, so that parameters, norms and
// moments have the same bits in each of them.
//
// With tensor parallelism there are groups of ranks that hold different parts of the same
// parameters and train on the same batch. Ranks that hold the same part divide it as above, and
// those of a group also have some parameters in common (Replicas), which stay the same on all of
// them to the bit, whatever their devices round.
//
// This header shows torch. Not thread-safe. Every rank makes the same calls in the same order.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/overlapped_sums.h"
#include "rl/collectives/rank_share.h"
#include "rl/training/flat_optimiser.h"
#include "rl/training/receivers.h"
#include "rl/training/zero_stage.h"

namespace shoal::training {

// Numbers that all ranks of a tensor-parallel group have.
struct Replicas {
  // The ranks of the group, which outlives the optimiser; null where there is no such group.
  collectives::GradientReducer* group = nullptr;
  // The numbers, among those of all units, in ascending order; `decays` does not matter.
  std::vector<FlatOptimiser::Part> parts = {};
};

class ZeroOptimiser {
 public:
  // What is trained: float32, contiguous, on one device.
  struct Arrays {
    // Of each unit, [n]. In stage 3 it has memory only from GatherUnit to ReleaseUnit.
    std::vector<at::Tensor> parameters;
    // Of each unit, [rows, n]. Each row is for one of the threads that run backward passes. In
    // stages 2 and 3 it has memory only from ClearGradient to ReduceGradient.
    std::vector<at::Tensor> gradients;
    // As in FlatOptimiser, of all units one after another.
    std::vector<FlatOptimiser::Part> parts;
  };

  // `reducer` must outlive this. One rank alone divides nothing, whatever the stage is. In stage 3
  // the arrays' memory is given back, and parameters have no values until RestoreParameters.
  // REQUIRES: the options are valid.
  ZeroOptimiser(const OptimiserOptions& options, ZeroStage stage, Arrays arrays,
                collectives::GradientReducer& reducer, Replicas replicas = {});

  // Compresses the gradients that are summed from now on (rl/collectives/rounded_sum.h). What
  // rounding took of a unit's gradient is kept on the host, as large as the gradient, and added to
  // the next one. REQUIRES: stage 0 or 1, since the others divide gradients.
  void CompressGradients() { compresses_ = true; }
  // Drops what rounding has taken, as where parameters go on from a checkpoint.
  void DropResiduals();

  // Whether parameters and gradients of units come and go, as in stage 3.
  bool divides_parameters() const { return divides(ZeroStage::kParameters); }

  // Gives the parameters of a unit their memory and the values of all ranks. Returns the errors of
  // the reducer. This and the next one are for stage 3.
  absl::Status GatherUnit(std::size_t unit);
  void ReleaseUnit(std::size_t unit);
  void ClearGradient(std::size_t unit);
  // Sums the gradients of all rows and ranks. In stages 2 and 3 this rank then has the sum of its
  // share alone. Of replicas each rank then has the sum of the first one of its tensor-parallel
  // group. Returns the errors of the reducers.
  absl::Status ReduceGradient(std::size_t unit);
  // The same for all units, of which the last one is summed first.
  void ClearGradients();
  absl::Status ReduceGradients();
  // Makes the sums of ReduceGradients, with the same bits, while backward passes run in so many
  // threads (overlapped_sums.h). Each thread adds a unit when its row of that unit's gradient is
  // complete, and leaves the row alone from then on. Errors and memory are those of
  // ReduceGradients. This outlives the result. REQUIRES: there is no tensor-parallel group.
  std::unique_ptr<collectives::OverlappedSums> BeginSums(std::size_t threads);

  // Returns the 2-norm of the sum, the same on all ranks; that of all ranks of a tensor-parallel
  // group together, in which replicas count once. The errors are those of the reducers.
  absl::StatusOr<double> GradientNorm();
  void ScaleGradient(double factor);
  // Returns the errors of the reducer. Parameters are then of no use.
  absl::Status Step(double rate);

  // Return the parameters, and the moments of all shares, of all units one after another, on the
  // CPU. Moments may be the optimiser's own memory. A rank that receives nothing may get empty
  // tensors, and holds one unit at a time meanwhile. The errors are those of the reducer.
  absl::StatusOr<at::Tensor> GatherParameters(Receivers receivers);
  absl::StatusOr<FlatOptimiser::Moments> GatherMoments(Receivers receivers);
  // Keep what this rank keeps. REQUIRES: the arrays have the sizes of those that are gathered.
  void RestoreParameters(const at::Tensor& parameters);
  void RestoreMoments(const FlatOptimiser::Moments& moments);

  // What this rank holds now.
  std::int64_t parameter_bytes() const;
  std::int64_t moment_bytes() const;
  std::int64_t gradient_bytes() const;
  std::int64_t residual_bytes() const;

 private:
  // A unit, and this rank's part of it.
  struct Unit {
    // Where it begins among all parameters.
    std::int64_t origin = 0;
    std::int64_t size = 0;
    // In stage 0 the whole unit.
    collectives::RankShare share;
    // Where the part begins in an array of what this rank keeps.
    std::int64_t kept_at = 0;
  };
  // Numbers of a unit from `begin` to `end`.
  struct Stretch {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool replicated = false;
  };

  bool divides(ZeroStage stage) const { return stage_ >= stage; }
  std::vector<Unit> UnitsOf(const std::vector<at::Tensor>& parameters) const;
  std::int64_t size() const;
  std::int64_t kept() const;
  std::vector<FlatOptimiser::Range> Ranges() const;
  // Returns a share of a unit cut into what is replicated and what is not.
  std::vector<Stretch> StretchesOf(std::size_t unit, const collectives::RankShare& share) const;
  // Adds up over the rows, and then over the ranks.
  void AddRows(std::size_t unit);
  absl::Status SumRows(std::size_t unit);
  // Adds up the whole gradient of a unit over the ranks.
  absl::Status SumOverRanks(std::size_t unit, std::span<float> gradient);
  // Makes the gradients of replicas those of the first rank of the tensor-parallel group.
  absl::Status ShareReplicas(std::size_t unit);
  // Returns the norms of what counts of the gradients in the share of a rank, which this one has.
  std::vector<at::Tensor> NormsOf(std::int64_t rank) const;
  // This rank's part of a unit's parameters, and of the gradient that a step reads.
  at::Tensor Parameters(std::size_t unit) const;
  at::Tensor Gradient(std::size_t unit) const;
  // Of an array of what this rank keeps.
  at::Tensor KeptPart(const at::Tensor& array, std::size_t unit) const;
  // Returns of an array of all units what this rank keeps.
  at::Tensor Kept(const at::Tensor& all) const;
  // Fills a unit's array with the parts of all ranks, of which `own` is this rank's.
  absl::Status GatherParts(const at::Tensor& own, const at::Tensor& unit);
  absl::StatusOr<at::Tensor> Gather(const std::function<at::Tensor(std::size_t)>& own,
                                    Receivers receivers);

  collectives::GradientReducer& reducer_;
  const ZeroStage stage_;
  const bool has_second_moment_;
  const Arrays arrays_;
  const Replicas replicas_;
  const std::vector<Unit> units_;
  // In stage 3 this rank's parameters; otherwise undefined.
  const at::Tensor kept_parameters_;
  // In stages 2 and 3 the gradient that a step reads; otherwise undefined.
  const at::Tensor kept_gradient_;
  bool compresses_ = false;
  // By unit; empty where nothing has been taken.
  std::vector<std::vector<float>> residuals_;
  FlatOptimiser optimiser_;
};

}  // namespace shoal::training
