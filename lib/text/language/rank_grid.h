// SPDX-License-Identifier: Apache-2.0
// The groups in which the ranks of a language trainer meet: all of them, those of one
// tensor-parallel group, and those with the same part of the model (rank_place.h).
//
// This header shows torch. Not thread-safe. All ranks make the same calls.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/training/receivers.h"
#include "text/language/rank_place.h"
#include "text/language/tensor_parallel.h"
#include "text/language/tensor_shards.h"

namespace shoal::language {

class RankGrid {
 public:
  // `all` outlives the grid. Returns the errors of GradientReducer::Split, which is not called for
  // one tensor rank. REQUIRES: tensor_ranks divides the ranks.
  static absl::StatusOr<std::unique_ptr<RankGrid>> Create(collectives::GradientReducer& all,
                                                          std::int64_t tensor_ranks);

  const RankPlace& place() const { return place_; }
  collectives::GradientReducer& all() { return all_; }
  // The ranks with the same part of the model, by data rank.
  collectives::GradientReducer& data() { return data_ ? *data_ : all_; }
  // The tensor-parallel group, by tensor rank; null for one tensor rank.
  collectives::GradientReducer* tensor() { return tensor_.get(); }

  // Returns the sum over the tensor-parallel group, which throws where it fails. The grid outlives
  // it.
  TensorSum SumOverTensorRanks();
  // Why it threw; OK if it did not.
  const absl::Status& failure() const { return failure_; }

  // Returns an array of the whole model from those of a tensor-parallel group, `own` being this
  // rank's. A rank that receives nothing may get an empty tensor. Returns the reducer's errors.
  absl::StatusOr<at::Tensor> GatherWhole(const TensorShards& shards, const at::Tensor& own,
                                         training::Receivers receivers);

  // Tells the other ranks of both groups that this one has failed alone, and why. Telling all ranks
  // is up to their owner.
  void Abort(const absl::Status& reason);

 private:
  RankGrid(collectives::GradientReducer& all, const RankPlace& place) : all_(all), place_(place) {}

  collectives::GradientReducer& all_;
  const RankPlace place_;
  std::unique_ptr<collectives::GradientReducer> data_;
  std::unique_ptr<collectives::GradientReducer> tensor_;
  absl::Status failure_;
};

}  // namespace shoal::language
