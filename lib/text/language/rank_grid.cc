// SPDX-License-Identifier: Apache-2.0
#include "text/language/rank_grid.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

namespace shoal::language {
namespace {

std::span<float> FloatsOf(const at::Tensor& host) {
  return {host.data_ptr<float>(), static_cast<std::size_t>(host.numel())};
}

}  // namespace

absl::StatusOr<std::unique_ptr<RankGrid>> RankGrid::Create(collectives::GradientReducer& all,
                                                           std::int64_t tensor_ranks) {
  std::unique_ptr<RankGrid> grid(
      new RankGrid(all, PlaceOf(all.rank(), all.world_size(), tensor_ranks)));
  if (tensor_ranks == 1) return grid;
  SHOAL_ASSIGN_OR_RETURN(grid->tensor_, all.Split(grid->place_.data_rank));
  SHOAL_ASSIGN_OR_RETURN(grid->data_, all.Split(grid->place_.tensor_rank));
  return grid;
}

TensorSum RankGrid::SumOverTensorRanks() {
  return [this](const at::Tensor& values) {
    const at::Tensor host = values.cpu();
    const absl::Status summed = tensor_->AllReduceSum(FloatsOf(host));
    if (!summed.ok()) {
      failure_ = summed;
      throw std::runtime_error(runtime::Message(summed));
    }
    if (!values.is_cpu()) values.copy_(host);
  };
}

absl::StatusOr<at::Tensor> RankGrid::GatherWhole(const TensorShards& shards, const at::Tensor& own,
                                                 training::Receivers receivers) {
  if (tensor_ == nullptr) return own;
  const bool to_all = receivers == training::Receivers::kAll;
  if (!to_all && place_.data_rank != 0) return at::empty({0}, at::kFloat);
  const bool receives = to_all || all_.rank() == 0;
  const at::Tensor host = own.cpu();
  at::Tensor whole = at::zeros({receives ? shards.whole().total : 0}, at::kFloat);
  for (std::size_t i = 0; i < shards.shard().parameters.size(); ++i) {
    const model::ParameterInfo& info = shards.shard().parameters[i];
    const auto size = static_cast<std::size_t>(info.size);
    const std::span<const float> part =
        FloatsOf(host).subspan(static_cast<std::size_t>(info.offset), size);
    if (shards.replicated(i)) {
      if (receives) shards.Place(i, 0, part, FloatsOf(whole));
      continue;
    }
    std::vector<float> parts(size * static_cast<std::size_t>(shards.ranks()));
    std::copy(part.begin(), part.end(), parts.begin() + place_.tensor_rank * info.size);
    SHOAL_RETURN_IF_ERROR(tensor_->AllGather(parts));
    for (std::int64_t rank = 0; receives && rank < shards.ranks(); ++rank) {
      shards.Place(i, rank, std::span(parts).subspan(static_cast<std::size_t>(rank) * size, size),
                   FloatsOf(whole));
    }
  }
  return whole;
}

void RankGrid::Abort(const absl::Status& reason) {
  if (tensor_ != nullptr) tensor_->Abort(reason);
  if (data_ != nullptr) data_->Abort(reason);
}

}  // namespace shoal::language
