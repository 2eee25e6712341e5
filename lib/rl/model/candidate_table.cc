// SPDX-License-Identifier: Apache-2.0
#include "rl/model/candidate_table.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <utility>

#include "rl/model/candidate_softmax.h"
#include "rl/model/candidate_table_tensors.h"
#include "rl/model/inner_products.h"
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

// The size of the table's objects and of what the allocator and torch add to them.
constexpr std::size_t kTableOverhead = 1024;

std::size_t BytesOf(const CandidateTable::Tensors& tensors) {
  return kTableOverhead + tensors.embeddings.nbytes() + tensors.inverse_norm.nbytes() +
         (tensors.removed.capacity() + tensors.newly_removed.capacity()) * sizeof(std::int32_t);
}

HalfRows RowsOf(const CandidateTable::Tensors& tensors) {
  const auto* const values =
      reinterpret_cast<const std::uint16_t*>(tensors.embeddings.const_data_ptr<at::Half>());
  return {.values = {values, static_cast<std::size_t>(tensors.embeddings.numel())},
          .stride = static_cast<std::size_t>(tensors.embeddings.size(1)),
          .size = static_cast<std::size_t>(tensors.similarity_size)};
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
    // The data is only read; from_blob has no const form.
    auto* data = const_cast<std::byte*>(embeddings.bytes().data());
    tensors->embeddings = at::from_blob(data, {shape[0], shape[1]}, at::kHalf).clone();
    const at::Tensor numbers = tensors->embeddings.to(at::kFloat);
    if (!numbers.sum().isfinite().item<bool>()) {
      return runtime::InvalidArgument("candidate embeddings: not all are finite");
    }
    tensors->similarity_size = compared;
    const at::Tensor norm = numbers.narrow(1, 0, compared).norm(2, {1});
    tensors->inverse_norm = norm.reciprocal().masked_fill_(norm.eq(0), 0.0);
    const std::int64_t count = shape[0] + (base == nullptr ? 0 : base->size());
    std::set<std::int32_t> all;
    if (base != nullptr) all.insert(base->removed().begin(), base->removed().end());
    for (const std::uint32_t index : removed) {
      const auto candidate = static_cast<std::int32_t>(index);
      const bool is_new = all.insert(candidate).second;
      if (base != nullptr && is_new) tensors->newly_removed.push_back(candidate);
    }
    std::sort(tensors->newly_removed.begin(), tensors->newly_removed.end());
    tensors->removed.assign(all.begin(), all.end());
    tensors->legal_count = count - static_cast<std::int64_t>(all.size());
    if (tensors->legal_count < 1) return runtime::InvalidArgument("every candidate is removed");
    tensors->id = NextId();
    tensors->base = std::move(base);
    return std::shared_ptr<const CandidateTable>(new CandidateTable(std::move(tensors)));
  });
}

std::int64_t CandidateTable::size() const {
  return own_size() + (tensors_->base == nullptr ? 0 : tensors_->base->size());
}
std::int64_t CandidateTable::own_size() const { return tensors_->embeddings.size(0); }
std::int64_t CandidateTable::embedding_size() const { return tensors_->embeddings.size(1); }
std::int64_t CandidateTable::similarity_size() const { return tensors_->similarity_size; }
std::int64_t CandidateTable::legal_count() const { return tensors_->legal_count; }
std::uint64_t CandidateTable::id() const { return tensors_->id; }
std::span<const std::int32_t> CandidateTable::removed() const { return tensors_->removed; }
std::span<const std::int32_t> CandidateTable::newly_removed() const {
  return tensors_->newly_removed;
}
const std::shared_ptr<const CandidateTable>& CandidateTable::base() const { return tensors_->base; }

bool CandidateTable::legal(std::int64_t candidate) const {
  return candidate >= 0 && candidate < size() &&
         !std::binary_search(tensors_->removed.begin(), tensors_->removed.end(), candidate);
}

at::Tensor EmbeddingsOn(const CandidateTable& table, at::Device device) {
  const at::Tensor& host = table.tensors().embeddings;
  if (device.is_cpu()) return host;
  CandidateTable::KeySlots& kept = *table.keys_;
  const runtime::MutexLock lock(kept.mutex);
  for (const at::Tensor& resident : kept.resident) {
    if (resident.device() == device) return resident;
  }
  kept.resident.push_back(host.to(device));
  table.bytes_.fetch_add(host.nbytes(), std::memory_order_relaxed);
  return kept.resident.back();
}

std::span<float> FloatsOf(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

std::span<const float> RowOf(const at::Tensor& matrix, std::int64_t row) {
  const auto width = static_cast<std::size_t>(matrix.size(1));
  return {matrix.const_data_ptr<float>() + static_cast<std::size_t>(row) * width, width};
}

std::vector<float> OwnCosines(const CandidateTable& table, std::span<const float> goal) {
  const CandidateTable::Tensors& tensors = table.tensors();
  const auto compared = goal.first(static_cast<std::size_t>(table.similarity_size()));
  const float norm = std::max(std::sqrt(Dot(compared, compared)), 1e-12F);
  std::vector<float> cosines(static_cast<std::size_t>(table.own_size()));
  InnerProducts(RowsOf(tensors), compared, cosines, cosines.size());
  const float* const inverse_norm = tensors.inverse_norm.const_data_ptr<float>();
  for (std::size_t i = 0; i < cosines.size(); ++i) cosines[i] *= inverse_norm[i] / norm;
  return cosines;
}

at::Tensor Cosines(const CandidateTable& table, const at::Tensor& goals) {
  TORCH_CHECK(goals.is_cpu(), "goals are compared on the CPU");
  const CandidateTable::Tensors& tensors = table.tensors();
  const at::Tensor compared = goals.narrow(1, 0, table.similarity_size());
  const at::Tensor norm = compared.norm(2, {1}, /*keepdim=*/true);
  const at::Tensor units = compared.div(norm.clamp_min(1e-12)).contiguous();
  at::Tensor cosines = at::empty({goals.size(0), table.own_size()}, at::kFloat);
  InnerProducts(RowsOf(tensors), FloatsOf(units), FloatsOf(cosines),
                static_cast<std::size_t>(table.own_size()));
  return cosines.mul_(tensors.inverse_norm);
}

}  // namespace shoal::model
