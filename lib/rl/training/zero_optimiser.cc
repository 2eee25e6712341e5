// SPDX-License-Identifier: Apache-2.0
#include "rl/training/zero_optimiser.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace shoal::training {
namespace {

std::span<float> FloatsOf(const at::Tensor& host) {
  return {host.data_ptr<float>(), static_cast<std::size_t>(host.numel())};
}

std::int64_t BytesOf(const at::Tensor& tensor) {
  return static_cast<std::int64_t>(tensor.storage().nbytes());
}

// Gives the memory of a tensor, and of all its views, back.
void Release(const at::Tensor& tensor) {
  const at::Storage& storage = tensor.storage();
  storage.set_nbytes(0);
  storage.set_data_ptr_noswap(storage.allocator()->allocate(0));
}

// Gives memory, with any content, to a tensor that was released.
void Allocate(const at::Tensor& tensor) {
  const at::Storage& storage = tensor.storage();
  if (storage.nbytes() > 0) return;
  const auto bytes = static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
  storage.set_data_ptr_noswap(storage.allocator()->allocate(bytes));
  storage.set_nbytes(bytes);
}

ZeroStage StageFor(ZeroStage stage, std::int64_t world_size) {
  return world_size > 1 ? stage : ZeroStage::kNone;
}

// Returns the parts of the array that a rank updates, from the beginning of its share on. Kernels
// may round the last elements of a range differently, so a rank that updates all shares cuts its
// parts where the others begin.
std::vector<FlatOptimiser::Part> PartsWithin(const ZeroOptimiser::Arrays& arrays,
                                             const collectives::RankShare& share,
                                             std::int64_t world_size) {
  std::vector<FlatOptimiser::Part> within;
  const auto origin = static_cast<std::int64_t>(share.begin);
  const std::int64_t limit = origin + static_cast<std::int64_t>(share.size);
  const auto size = static_cast<std::size_t>(arrays.parameters.numel());
  for (const FlatOptimiser::Part& part : arrays.parts) {
    for (std::int64_t rank = 0; rank < world_size; ++rank) {
      const collectives::RankShare one = collectives::ShareOf(size, rank, world_size);
      const auto first = static_cast<std::int64_t>(one.begin);
      const std::int64_t begin = std::max({part.offset, first, origin});
      const std::int64_t end =
          std::min({part.offset + part.size, first + static_cast<std::int64_t>(one.size), limit});
      if (begin < end) within.push_back({begin - origin, end - begin, part.decays});
    }
  }
  return within;
}

at::Tensor Narrow(const at::Tensor& whole, const collectives::RankShare& share) {
  return whole.narrow(0, static_cast<std::int64_t>(share.begin),
                      static_cast<std::int64_t>(share.size));
}

}  // namespace

ZeroOptimiser::ZeroOptimiser(const OptimiserOptions& options, ZeroStage stage, Arrays arrays,
                             collectives::GradientReducer& reducer)
    : reducer_(reducer),
      stage_(StageFor(stage, reducer.world_size())),
      has_second_moment_(HasSecondMoment(options.kind)),
      arrays_(std::move(arrays)),
      share_(divides(ZeroStage::kOptimiser)
                 ? collectives::ShareOf(static_cast<std::size_t>(size()), reducer.rank(),
                                        reducer.world_size())
                 : collectives::RankShare{0, static_cast<std::size_t>(size())}),
      gradient_(divides(ZeroStage::kGradients) ? at::zeros({static_cast<std::int64_t>(share_.size)},
                                                           arrays_.parameters.options())
                                               : Narrow(arrays_.gradients[0], share_)),
      optimiser_(options, Narrow(arrays_.parameters, share_), gradient_,
                 PartsWithin(arrays_, share_, reducer.world_size())) {}

void ZeroOptimiser::ClearGradients() {
  if (divides(ZeroStage::kGradients)) {
    Release(gradient_);
    Allocate(arrays_.gradients);
  }
  arrays_.gradients.zero_();
}

absl::Status ZeroOptimiser::ReduceGradients() {
  at::Tensor sum = arrays_.gradients[0];
  for (std::int64_t i = 1; i < arrays_.gradients.size(0); ++i) sum.add_(arrays_.gradients[i]);
  if (reducer_.world_size() == 1) return absl::OkStatus();
  const at::Tensor host = sum.to(at::kCPU);
  if (!divides(ZeroStage::kGradients)) {
    SHOAL_RETURN_IF_ERROR(reducer_.AllReduceSum(FloatsOf(host)));
    if (!sum.is_cpu()) sum.copy_(host);
    return absl::OkStatus();
  }
  const absl::Status summed = reducer_.ReduceScatterSum(FloatsOf(host));
  // The memory changes hands whatever came of it, so that the calls that follow find a gradient.
  Allocate(gradient_);
  gradient_.copy_(Narrow(host, share_));
  Release(arrays_.gradients);
  return summed;
}

absl::StatusOr<double> ZeroOptimiser::GradientNorm() {
  const auto square = [](const at::Tensor& gradient) {
    const double norm = at::linalg_vector_norm(gradient, 2, {}, false, at::kDouble).item<double>();
    return norm * norm;
  };
  // The squares of the shares are added up in the order of ranks, whoever has computed them.
  std::vector<double> squares(static_cast<std::size_t>(reducer_.world_size()));
  for (std::int64_t rank = 0; rank < reducer_.world_size(); ++rank) {
    double& of_rank = squares[static_cast<std::size_t>(rank)];
    if (divides(ZeroStage::kGradients)) {
      if (rank == reducer_.rank()) of_rank = square(gradient_);
      continue;
    }
    of_rank =
        square(Narrow(arrays_.gradients[0], collectives::ShareOf(static_cast<std::size_t>(size()),
                                                                 rank, reducer_.world_size())));
  }
  if (divides(ZeroStage::kGradients)) {
    SHOAL_RETURN_IF_ERROR(reducer_.AllReduceSum(std::span<double>(squares)));
  }
  double sum = 0;
  for (const double one : squares) sum += one;
  return std::sqrt(sum);
}

void ZeroOptimiser::ScaleGradient(double factor) { at::Tensor(gradient_).mul_(factor); }

absl::Status ZeroOptimiser::Step(double rate) {
  optimiser_.Step(rate);
  if (!divides(ZeroStage::kOptimiser)) return absl::OkStatus();
  at::Tensor parameters = arrays_.parameters;
  if (parameters.is_cpu()) return reducer_.AllGather(FloatsOf(parameters));
  const at::Tensor host = at::empty({size()}, at::kFloat);
  Narrow(host, share_).copy_(Narrow(parameters, share_));
  SHOAL_RETURN_IF_ERROR(reducer_.AllGather(FloatsOf(host)));
  parameters.copy_(host);
  return absl::OkStatus();
}

absl::StatusOr<FlatOptimiser::Moments> ZeroOptimiser::GatherMoments() {
  const FlatOptimiser::Moments& own = optimiser_.moments();
  const auto whole = [this](const at::Tensor& part) -> absl::StatusOr<at::Tensor> {
    if (!divides(ZeroStage::kOptimiser)) return part.to(at::kCPU);
    const at::Tensor host = at::empty({size()}, at::kFloat);
    Narrow(host, share_).copy_(part);
    SHOAL_RETURN_IF_ERROR(reducer_.AllGather(FloatsOf(host)));
    return host;
  };
  SHOAL_ASSIGN_OR_RETURN(at::Tensor first, whole(own.first));
  at::Tensor second = own.second;
  if (has_second_moment_) {
    SHOAL_ASSIGN_OR_RETURN(second, whole(own.second));
  }
  return FlatOptimiser::Moments{std::move(first), std::move(second), own.steps};
}

void ZeroOptimiser::Restore(const FlatOptimiser::Moments& moments) {
  optimiser_.Restore({Narrow(moments.first, share_),
                      has_second_moment_ ? Narrow(moments.second, share_) : moments.second,
                      moments.steps});
}

std::int64_t ZeroOptimiser::moment_bytes() const {
  return BytesOf(optimiser_.moments().first) + BytesOf(optimiser_.moments().second);
}

std::int64_t ZeroOptimiser::gradient_bytes() const {
  const std::int64_t all = BytesOf(arrays_.gradients);
  return divides(ZeroStage::kGradients) ? all + BytesOf(gradient_) : all;
}

}  // namespace shoal::training
