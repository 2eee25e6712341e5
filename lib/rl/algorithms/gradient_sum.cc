// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/gradient_sum.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <span>

#include "rl/model/candidate_table_tensors.h"
#include "rl/training/reducible.h"

namespace shoal::algorithms {
namespace {

constexpr auto kSumFloats = static_cast<std::int64_t>(MinibatchSums::kCount);

}  // namespace

GradientSum::GradientSum(std::int64_t size, at::Device device,
                         collectives::GradientReducer& reducer)
    : size_(size),
      reducer_(reducer),
      numbers_(at::zeros({size + kSumFloats}, at::TensorOptions(at::kFloat).device(device))) {}

void GradientSum::Clear() { at::Tensor(numbers_).zero_(); }

absl::Status GradientSum::OverRanks(GradientSource source, MinibatchSums& sums) {
  // The only rank of a device keeps its gradients there.
  if (reducer_.world_size() == 1 && !numbers_.is_cpu()) return absl::OkStatus();
  const at::Tensor array = training::Reducible(reducer_, numbers_);
  const at::Tensor tail = array.narrow(0, size_, kSumFloats);
  const at::Tensor own = at::from_blob(sums.values.data(), {kSumFloats}, at::kDouble);
  tail.copy_(own);
  const std::span<float> values = model::FloatsOf(array);
  const std::span<float> gradient = values.first(static_cast<std::size_t>(size_));
  if (compresses_ && reducer_.compresses(gradient.size())) {
    SHOAL_RETURN_IF_ERROR(reducer_.AllReduceSum(values.subspan(gradient.size())));
    own.copy_(tail);
    // Nobody steps by a gradient of no rows, so it must not take the residual with it.
    if (sums.weight() <= 0) return absl::OkStatus();
    std::vector<float>& residual = residuals_[static_cast<std::size_t>(source)];
    residual.resize(gradient.size());
    SHOAL_RETURN_IF_ERROR(reducer_.AllReduceSumCompressed(gradient, residual));
  } else {
    SHOAL_RETURN_IF_ERROR(reducer_.AllReduceSum(values));
    own.copy_(tail);
  }
  if (!array.is_same(numbers_)) at::Tensor(numbers_).copy_(array);
  return absl::OkStatus();
}

void GradientSum::DropResiduals() { residuals_ = {}; }

}  // namespace shoal::algorithms
