// SPDX-License-Identifier: Apache-2.0
#include "rl/model/candidate_table.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <atomic>
#include <cmath>
#include <utility>

#include "rl/model/candidate_table_tensors.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"

namespace shoal::model {
namespace {

std::uint64_t NextId() {
  // Relaxed: only uniqueness matters.
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

absl::Status CheckArguments(const runtime::Tensor& embeddings,
                            std::span<const std::uint32_t> removed, const CandidateTable* base,
                            std::int64_t similarity_size) {
  const runtime::Shape& shape = embeddings.shape();
  const std::int64_t least = base == nullptr ? 1 : 0;
  if (embeddings.dtype() != runtime::DType::kFloat16 || shape.size() != 2 || shape[0] < least ||
      shape[1] < 1 || (base != nullptr && shape[1] != base->embedding_size())) {
    return runtime::InvalidArgument("candidate embeddings: need FLOAT16 [N, D], got " +
                                    std::string(runtime::Name(embeddings.dtype())) + " " +
                                    runtime::ToString(shape));
  }
  if (similarity_size < 1 || similarity_size > shape[1] ||
      (base != nullptr && similarity_size != base->similarity_size())) {
    return runtime::InvalidArgument("candidate embeddings: " + std::to_string(similarity_size) +
                                    " of " + std::to_string(shape[1]) +
                                    " numbers cannot be compared, or the base compares others");
  }
  if (base != nullptr && base->tensors().base != nullptr) {
    return runtime::InvalidArgument("the base of an overlay is an overlay");
  }
  const std::int64_t count = shape[0] + (base == nullptr ? 0 : base->size());
  for (const std::uint32_t index : removed) {
    if (index >= count) {
      return runtime::InvalidArgument("removed candidate " + std::to_string(index) + " of " +
                                      std::to_string(count));
    }
  }
  return absl::OkStatus();
}

// [G, M], of the table's own candidates.
at::Tensor Cosines(const CandidateTable::Tensors& tensors, const at::Tensor& unit_goals) {
  return at::mm(unit_goals, tensors.compared.t()).mul_(tensors.inverse_norm);
}

}  // namespace

CandidateTable::CandidateTable(std::unique_ptr<const Tensors> tensors)
    : tensors_(std::move(tensors)) {}
CandidateTable::~CandidateTable() = default;

absl::StatusOr<std::shared_ptr<const CandidateTable>> CandidateTable::Create(
    const runtime::Tensor& embeddings, std::span<const std::uint32_t> removed,
    std::shared_ptr<const CandidateTable> base, std::int64_t similarity_size) {
  const std::int64_t size = embeddings.shape().size() == 2 ? embeddings.shape()[1] : 0;
  const std::int64_t compared = similarity_size == 0 ? size : similarity_size;
  SHOAL_RETURN_IF_ERROR(CheckArguments(embeddings, removed, base.get(), compared));
  using Made = absl::StatusOr<std::shared_ptr<const CandidateTable>>;
  return GuardTorch("candidate table", [&]() -> Made {
    ApplyTorchThreads();
    const at::NoGradGuard no_grad;
    auto tensors = std::make_unique<Tensors>();
    const runtime::Shape& shape = embeddings.shape();
    // Only read: from_blob has no const form.
    auto* data = const_cast<std::byte*>(embeddings.bytes().data());
    tensors->embeddings = at::from_blob(data, {shape[0], shape[1]}, at::kHalf).to(at::kFloat);
    if (!tensors->embeddings.sum().isfinite().item<bool>()) {
      return runtime::InvalidArgument("candidate embeddings: not all are finite");
    }
    tensors->compared = tensors->embeddings.narrow(1, 0, compared);
    const at::Tensor norm = tensors->compared.norm(2, {1});
    tensors->inverse_norm = norm.reciprocal().masked_fill_(norm.eq(0), 0.0);
    const std::int64_t count = shape[0] + (base == nullptr ? 0 : base->size());
    tensors->legal_count = count;
    // Of a base that has removed candidates itself, they stay so.
    const bool inherits = base != nullptr && base->tensors().illegal.defined();
    if (!removed.empty() || inherits) {
      tensors->illegal = at::zeros({count}, at::kBool);
      if (inherits) tensors->illegal.narrow(0, 0, base->size()).copy_(base->tensors().illegal);
      bool* const illegal = tensors->illegal.data_ptr<bool>();
      for (const std::uint32_t index : removed) illegal[index] = true;
      tensors->legal_count -= tensors->illegal.sum().item<std::int64_t>();
    }
    if (tensors->legal_count < 1) return runtime::InvalidArgument("every candidate is removed");
    tensors->id = NextId();
    tensors->base = std::move(base);
    return std::shared_ptr<const CandidateTable>(new CandidateTable(std::move(tensors)));
  });
}

std::int64_t CandidateTable::size() const {
  return tensors_->embeddings.size(0) + (tensors_->base == nullptr ? 0 : tensors_->base->size());
}
std::int64_t CandidateTable::embedding_size() const { return tensors_->embeddings.size(1); }
std::int64_t CandidateTable::similarity_size() const { return tensors_->compared.size(1); }
std::int64_t CandidateTable::legal_count() const { return tensors_->legal_count; }
std::uint64_t CandidateTable::id() const { return tensors_->id; }

bool CandidateTable::legal(std::int64_t candidate) const {
  if (candidate < 0 || candidate >= size()) return false;
  return !tensors_->illegal.defined() || !tensors_->illegal.data_ptr<bool>()[candidate];
}

at::Tensor Embeddings(const CandidateTable& table) {
  const CandidateTable::Tensors& tensors = table.tensors();
  if (tensors.base == nullptr) return tensors.embeddings;
  const at::Tensor& below = tensors.base->tensors().embeddings;
  return tensors.embeddings.size(0) == 0 ? below : at::cat({below, tensors.embeddings});
}

at::Tensor StandardisedSimilarity(const CandidateTable& table, const at::Tensor& goals) {
  const CandidateTable::Tensors& tensors = table.tensors();
  const at::Tensor compared = goals.narrow(1, 0, table.similarity_size());
  const at::Tensor goal_norm = compared.norm(2, {1}, /*keepdim=*/true);
  const at::Tensor unit = compared.div(goal_norm.clamp_min(1e-12));
  at::Tensor cosine = Cosines(tensors, unit);  // [G, N]
  if (tensors.base != nullptr)
    cosine = at::cat({Cosines(tensors.base->tensors(), unit), cosine}, 1);
  const auto count = static_cast<double>(tensors.legal_count);
  if (tensors.illegal.defined()) cosine.masked_fill_(tensors.illegal, 0.0);
  const at::Tensor mean = cosine.sum({1}, /*keepdim=*/true).div_(count);
  cosine.sub_(mean);
  if (tensors.illegal.defined()) cosine.masked_fill_(tensors.illegal, 0.0);
  const at::Tensor deviation = cosine.norm(2, {1}, /*keepdim=*/true).div_(std::sqrt(count));
  cosine.mul_(deviation.reciprocal().masked_fill_(deviation.lt(1e-6), 0.0));
  if (tensors.illegal.defined()) cosine.masked_fill_(tensors.illegal, kIllegalLogit);
  return cosine;
}

}  // namespace shoal::model
