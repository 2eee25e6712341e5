// SPDX-License-Identifier: Apache-2.0
#include "rl/model/candidate_table.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>

#include <algorithm>
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

// What torch and the allocator need for a table's tensors besides their numbers.
constexpr std::size_t kTableOverhead = 1536;

std::size_t BytesOf(const CandidateTable::Tensors& tensors) {
  return kTableOverhead + tensors.embeddings.nbytes() + tensors.inverse_norm.nbytes() +
         tensors.removed.size() * sizeof(std::int64_t);
}

// The base's removed candidates and the table's, merged.
std::vector<std::int64_t> Removed(std::span<const std::uint32_t> removed,
                                  const CandidateTable* base) {
  std::vector<std::int64_t> merged(removed.begin(), removed.end());
  if (base != nullptr) {
    const std::vector<std::int64_t>& below = base->tensors().removed;
    merged.insert(merged.end(), below.begin(), below.end());
  }
  std::sort(merged.begin(), merged.end());
  merged.erase(std::unique(merged.begin(), merged.end()), merged.end());
  merged.shrink_to_fit();
  return merged;
}

// The goals' numbers that count, each row of length 1.
at::Tensor UnitGoals(const CandidateTable& table, const at::Tensor& goals) {
  const at::Tensor compared = goals.narrow(1, 0, table.similarity_size());
  return compared.div(compared.norm(2, {1}, /*keepdim=*/true).clamp_min(1e-12));
}

at::Tensor UnitCosines(const CandidateTable::Tensors& tensors, const at::Tensor& unit_goals) {
  return at::mm(unit_goals, tensors.compared.t()).mul_(tensors.inverse_norm);
}

}  // namespace

CandidateTable::CandidateTable(std::unique_ptr<const Tensors> tensors)
    : tensors_(std::move(tensors)),
      keys_(std::make_unique<KeySlots>()),
      bytes_(BytesOf(*tensors_)) {}
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
    tensors->count = shape[0] + (base == nullptr ? 0 : base->size());
    tensors->removed = Removed(removed, base.get());
    if (static_cast<std::int64_t>(tensors->removed.size()) == tensors->count) {
      return runtime::InvalidArgument("every candidate is removed");
    }
    tensors->id = NextId();
    tensors->base = std::move(base);
    return std::shared_ptr<const CandidateTable>(new CandidateTable(std::move(tensors)));
  });
}

std::int64_t CandidateTable::size() const { return tensors_->count; }
std::int64_t CandidateTable::embedding_size() const { return tensors_->embeddings.size(1); }
std::int64_t CandidateTable::similarity_size() const { return tensors_->compared.size(1); }
std::int64_t CandidateTable::legal_count() const {
  return size() - static_cast<std::int64_t>(tensors_->removed.size());
}
std::uint64_t CandidateTable::id() const { return tensors_->id; }

bool CandidateTable::legal(std::int64_t candidate) const {
  if (candidate < 0 || candidate >= size()) return false;
  return !std::binary_search(tensors_->removed.begin(), tensors_->removed.end(), candidate);
}

Blocks EmbeddingBlocks(const CandidateTable& table) {
  Blocks blocks;
  const CandidateTable::Tensors& tensors = table.tensors();
  if (tensors.base != nullptr) blocks.push_back(tensors.base->tensors().embeddings);
  if (tensors.embeddings.size(0) > 0) blocks.push_back(tensors.embeddings);
  return blocks;
}

void AddProducts(const at::Tensor& queries, const Blocks& blocks, at::Tensor& products) {
  std::int64_t begin = 0;
  for (const at::Tensor& block : blocks) {
    products.narrow(1, begin, block.size(0)).addmm_(queries, block.t());
    begin += block.size(0);
  }
}

void MultiplyInto(const at::Tensor& weights, const Blocks& blocks, at::Tensor& sums) {
  std::int64_t begin = 0;
  for (const at::Tensor& block : blocks) {
    const at::Tensor part = weights.narrow(1, begin, block.size(0));
    sums.addmm_(part, block, /*beta=*/begin == 0 ? 0 : 1);
    begin += block.size(0);
  }
}

void FillRemoved(const CandidateTable& table, double value, at::Tensor& values) {
  const std::vector<std::int64_t>& removed = table.tensors().removed;
  if (removed.empty()) return;
  const at::Tensor indices = at::from_blob(const_cast<std::int64_t*>(removed.data()),
                                           {static_cast<std::int64_t>(removed.size())}, at::kLong);
  values.index_fill_(1, indices, value);
}

at::Tensor OwnCosines(const CandidateTable& table, const at::Tensor& goals) {
  return UnitCosines(table.tensors(), UnitGoals(table, goals));
}

at::Tensor StandardisedSimilarity(const CandidateTable& table, const at::Tensor& goals) {
  const CandidateTable::Tensors& tensors = table.tensors();
  const at::Tensor unit = UnitGoals(table, goals);
  at::Tensor cosine = UnitCosines(tensors, unit);  // [G, N]
  if (tensors.base != nullptr)
    cosine = at::cat({UnitCosines(tensors.base->tensors(), unit), cosine}, 1);
  const auto count = static_cast<double>(table.legal_count());
  FillRemoved(table, 0.0, cosine);
  const at::Tensor mean = cosine.sum({1}, /*keepdim=*/true).div_(count);
  cosine.sub_(mean);
  FillRemoved(table, 0.0, cosine);
  const at::Tensor deviation = cosine.norm(2, {1}, /*keepdim=*/true).div_(std::sqrt(count));
  cosine.mul_(deviation.reciprocal().masked_fill_(deviation.lt(1e-6), 0.0));
  FillRemoved(table, kIllegalLogit, cosine);
  return cosine;
}

}  // namespace shoal::model
