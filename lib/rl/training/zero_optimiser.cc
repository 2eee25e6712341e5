// SPDX-License-Identifier: Apache-2.0
#include "rl/training/zero_optimiser.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "platform/runtime/check.h"
#include "rl/model/torch_guard.h"
#include "rl/training/reducible.h"
#include "rl/training/tensor_memory.h"

namespace shoal::training {
namespace {

using collectives::RankShare;

std::span<float> FloatsOf(const at::Tensor& array) {
  return {array.data_ptr<float>(), static_cast<std::size_t>(array.numel())};
}

ZeroStage StageFor(ZeroStage stage, std::int64_t world_size) {
  return world_size > 1 ? stage : ZeroStage::kNone;
}

at::Tensor Narrow(const at::Tensor& unit, const RankShare& share) {
  return unit.narrow(0, static_cast<std::int64_t>(share.begin),
                     static_cast<std::int64_t>(share.size));
}

}  // namespace

ZeroOptimiser::ZeroOptimiser(const OptimiserOptions& options, ZeroStage stage, Arrays arrays,
                             collectives::GradientReducer& reducer, Replicas replicas)
    : reducer_(reducer),
      stage_(StageFor(stage, reducer.world_size())),
      has_second_moment_(HasSecondMoment(options.kind)),
      arrays_(std::move(arrays)),
      replicas_(std::move(replicas)),
      units_(UnitsOf(arrays_.parameters)),
      kept_parameters_(divides(ZeroStage::kParameters)
                           ? at::empty({kept()}, arrays_.parameters[0].options())
                           : at::Tensor()),
      kept_gradient_(divides(ZeroStage::kGradients)
                         ? at::zeros({kept()}, arrays_.parameters[0].options())
                         : at::Tensor()),
      optimiser_(options, at::empty({kept()}, arrays_.parameters[0].options()), Ranges()) {
  if (!divides_parameters()) return;
  for (const at::Tensor& parameters : arrays_.parameters) ReleaseMemory(parameters);
  for (const at::Tensor& gradients : arrays_.gradients) ReleaseMemory(gradients);
}

std::vector<ZeroOptimiser::Unit> ZeroOptimiser::UnitsOf(
    const std::vector<at::Tensor>& parameters) const {
  std::vector<Unit> units;
  std::int64_t origin = 0;
  std::int64_t kept_at = 0;
  for (const at::Tensor& of_unit : parameters) {
    const std::int64_t size = of_unit.numel();
    const auto elements = static_cast<std::size_t>(size);
    const RankShare share =
        divides(ZeroStage::kOptimiser)
            ? collectives::ShareOf(elements, reducer_.rank(), reducer_.world_size())
            : RankShare{0, elements};
    units.push_back({origin, size, share, kept_at});
    origin += size;
    kept_at += static_cast<std::int64_t>(share.size);
  }
  return units;
}

std::int64_t ZeroOptimiser::size() const { return units_.back().origin + units_.back().size; }

std::int64_t ZeroOptimiser::kept() const {
  return units_.back().kept_at + static_cast<std::int64_t>(units_.back().share.size);
}

// Kernels may round the last elements of a range differently. So each range ends where its part,
// unit or share does, also on a rank that updates several shares.
std::vector<FlatOptimiser::Range> ZeroOptimiser::Ranges() const {
  std::vector<FlatOptimiser::Range> ranges;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& unit = units_[i];
    const auto kept_begin = static_cast<std::int64_t>(unit.share.begin);
    const std::int64_t kept_end = kept_begin + static_cast<std::int64_t>(unit.share.size);
    for (std::int64_t rank = 0; rank < reducer_.world_size(); ++rank) {
      const RankShare share =
          collectives::ShareOf(static_cast<std::size_t>(unit.size), rank, reducer_.world_size());
      const auto first = static_cast<std::int64_t>(share.begin);
      const std::int64_t last = first + static_cast<std::int64_t>(share.size);
      for (const FlatOptimiser::Part& part : arrays_.parts) {
        const std::int64_t offset = part.offset - unit.origin;
        const std::int64_t begin = std::max({offset, first, kept_begin});
        const std::int64_t end = std::min({offset + part.size, last, kept_end});
        if (begin >= end) continue;
        ranges.push_back({Parameters(i).narrow(0, begin - kept_begin, end - begin),
                          Gradient(i).narrow(0, begin - kept_begin, end - begin),
                          unit.kept_at + begin - kept_begin, part.decays});
      }
    }
  }
  return ranges;
}

at::Tensor ZeroOptimiser::KeptPart(const at::Tensor& array, std::size_t unit) const {
  return array.narrow(0, units_[unit].kept_at, static_cast<std::int64_t>(units_[unit].share.size));
}

at::Tensor ZeroOptimiser::Parameters(std::size_t unit) const {
  if (kept_parameters_.defined()) return KeptPart(kept_parameters_, unit);
  return Narrow(arrays_.parameters[unit], units_[unit].share);
}

at::Tensor ZeroOptimiser::Gradient(std::size_t unit) const {
  if (kept_gradient_.defined()) return KeptPart(kept_gradient_, unit);
  return Narrow(arrays_.gradients[unit][0], units_[unit].share);
}

at::Tensor ZeroOptimiser::Kept(const at::Tensor& all) const {
  if (!divides(ZeroStage::kOptimiser)) return all;
  std::vector<at::Tensor> parts;
  for (const Unit& unit : units_) {
    parts.push_back(Narrow(all.narrow(0, unit.origin, unit.size), unit.share));
  }
  return at::cat(parts);
}

absl::Status ZeroOptimiser::GatherParts(const at::Tensor& own, const at::Tensor& unit) {
  const bool in_place = Takes(reducer_, unit.device());
  const at::Tensor array = in_place ? unit : at::empty({unit.numel()}, at::kFloat);
  const at::Tensor part =
      Narrow(array, collectives::ShareOf(static_cast<std::size_t>(unit.numel()), reducer_.rank(),
                                         reducer_.world_size()));
  if (!part.is_alias_of(own)) part.copy_(own);
  SHOAL_RETURN_IF_ERROR(reducer_.AllGather(FloatsOf(array)));
  if (!in_place) unit.copy_(array);
  return absl::OkStatus();
}

absl::Status ZeroOptimiser::GatherUnit(std::size_t unit) {
  const at::Tensor& parameters = arrays_.parameters[unit];
  AllocateMemory(parameters);
  return GatherParts(Parameters(unit), parameters);
}

void ZeroOptimiser::ReleaseUnit(std::size_t unit) { ReleaseMemory(arrays_.parameters[unit]); }

void ZeroOptimiser::ClearGradient(std::size_t unit) {
  AllocateMemory(arrays_.gradients[unit]);
  arrays_.gradients[unit].zero_();
}

std::vector<ZeroOptimiser::Stretch> ZeroOptimiser::StretchesOf(std::size_t unit,
                                                               const RankShare& share) const {
  std::int64_t begin = static_cast<std::int64_t>(share.begin);
  const std::int64_t end = begin + static_cast<std::int64_t>(share.size);
  std::vector<Stretch> stretches;
  for (const FlatOptimiser::Part& part : replicas_.parts) {
    const std::int64_t first = std::max(begin, part.offset - units_[unit].origin);
    const std::int64_t last = std::min(end, part.offset + part.size - units_[unit].origin);
    if (first >= last) continue;
    if (begin < first) stretches.push_back({begin, first, false});
    stretches.push_back({first, last, true});
    begin = last;
  }
  if (begin < end) stretches.push_back({begin, end, false});
  return stretches;
}

absl::Status ZeroOptimiser::ReduceGradient(std::size_t unit) {
  AddRows(unit);
  SHOAL_RETURN_IF_ERROR(SumRows(unit));
  return ShareReplicas(unit);
}

absl::Status ZeroOptimiser::ShareReplicas(std::size_t unit) {
  if (replicas_.group == nullptr) return absl::OkStatus();
  const at::Tensor gradient = Gradient(unit);
  const auto begin = static_cast<std::int64_t>(units_[unit].share.begin);
  std::vector<at::Tensor> replicas;
  for (const Stretch& stretch : StretchesOf(unit, units_[unit].share)) {
    if (!stretch.replicated) continue;
    replicas.push_back(gradient.narrow(0, stretch.begin - begin, stretch.end - stretch.begin));
  }
  if (replicas.empty()) return absl::OkStatus();
  const at::Tensor host = at::cat(replicas).cpu();
  SHOAL_RETURN_IF_ERROR(replicas_.group->Broadcast(std::as_writable_bytes(FloatsOf(host))));
  std::int64_t at = 0;
  for (const at::Tensor& replica : replicas) {
    replica.copy_(host.narrow(0, at, replica.numel()));
    at += replica.numel();
  }
  return absl::OkStatus();
}

void ZeroOptimiser::AddRows(std::size_t unit) {
  const at::Tensor& gradients = arrays_.gradients[unit];
  at::Tensor sum = gradients[0];
  for (std::int64_t i = 1; i < gradients.size(0); ++i) sum.add_(gradients[i]);
}

absl::Status ZeroOptimiser::SumRows(std::size_t unit) {
  if (reducer_.world_size() == 1) return absl::OkStatus();
  const at::Tensor& gradients = arrays_.gradients[unit];
  const at::Tensor sum = gradients[0];
  const at::Tensor array = Reducible(reducer_, sum);
  if (!divides(ZeroStage::kGradients)) {
    SHOAL_RETURN_IF_ERROR(SumOverRanks(unit, FloatsOf(array)));
    if (!array.is_same(sum)) sum.copy_(array);
    return absl::OkStatus();
  }
  const absl::Status summed = reducer_.ReduceScatterSum(FloatsOf(array));
  // The memory changes hands whatever came of it, so that the calls that follow find a gradient.
  AllocateMemory(kept_gradient_);
  Gradient(unit).copy_(Narrow(array, units_[unit].share));
  ReleaseMemory(gradients);
  return summed;
}

absl::Status ZeroOptimiser::SumOverRanks(std::size_t unit, std::span<float> gradient) {
  if (!compresses_ || !reducer_.compresses(gradient.size())) return reducer_.AllReduceSum(gradient);
  residuals_.resize(units_.size());
  residuals_[unit].resize(gradient.size());
  return reducer_.AllReduceSumCompressed(gradient, residuals_[unit]);
}

void ZeroOptimiser::DropResiduals() { residuals_.clear(); }

void ZeroOptimiser::ClearGradients() {
  if (divides(ZeroStage::kGradients)) ReleaseMemory(kept_gradient_);
  for (std::size_t unit = 0; unit < units_.size(); ++unit) ClearGradient(unit);
}

absl::Status ZeroOptimiser::ReduceGradients() {
  absl::Status all;
  for (std::size_t unit = units_.size(); unit-- > 0;) all.Update(ReduceGradient(unit));
  return all;
}

std::unique_ptr<collectives::OverlappedSums> ZeroOptimiser::BeginSums(std::size_t threads) {
  SHOAL_CHECK(replicas_.group == nullptr);
  collectives::OverlappedSums::Calls calls;
  calls.collect = [this](std::size_t unit) { AddRows(unit); };
  calls.sum = [this](std::size_t unit) {
    const absl::Status summed =
        model::GuardTorch("sum of gradients", [&] { return SumRows(unit); });
    // Where torch threw, the call was not made, and this rank would be a unit ahead of the others.
    if (!summed.ok()) reducer_.Abort(summed);
    return summed;
  };
  calls.seconds = [this] { return reducer_.communication().seconds; };
  return std::make_unique<collectives::OverlappedSums>(units_.size(), threads, std::move(calls));
}

std::vector<at::Tensor> ZeroOptimiser::NormsOf(std::int64_t rank) const {
  const bool scattered = divides(ZeroStage::kGradients);
  const bool counts_replicas = replicas_.group == nullptr || replicas_.group->rank() == 0;
  std::vector<at::Tensor> norms;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const at::Tensor gradient = scattered ? Gradient(i) : arrays_.gradients[i][0];
    const std::int64_t origin = scattered ? static_cast<std::int64_t>(units_[i].share.begin) : 0;
    const RankShare share =
        collectives::ShareOf(static_cast<std::size_t>(units_[i].size), rank, reducer_.world_size());
    for (const Stretch& stretch : StretchesOf(i, share)) {
      if (stretch.replicated && !counts_replicas) continue;
      norms.push_back(at::linalg_vector_norm(
          gradient.narrow(0, stretch.begin - origin, stretch.end - stretch.begin), 2, {}, false,
          at::kDouble));
    }
  }
  return norms;
}

absl::StatusOr<double> ZeroOptimiser::GradientNorm() {
  // The norms of the shares are added up in the order of ranks and units, whoever has computed
  // them.
  std::vector<double> squares(static_cast<std::size_t>(reducer_.world_size()));
  for (std::size_t rank = 0; rank < squares.size(); ++rank) {
    const bool own = rank == static_cast<std::size_t>(reducer_.rank());
    if (divides(ZeroStage::kGradients) && !own) continue;
    const std::vector<at::Tensor> norms = NormsOf(static_cast<std::int64_t>(rank));
    if (norms.empty()) continue;
    const at::Tensor host = at::stack(norms).cpu();
    const std::span values(host.const_data_ptr<double>(), norms.size());
    for (const double norm : values) squares[rank] += norm * norm;
  }
  if (divides(ZeroStage::kGradients)) {
    SHOAL_RETURN_IF_ERROR(reducer_.AllReduceSum(std::span<double>(squares)));
  }
  double sum = 0;
  for (const double one : squares) sum += one;
  if (replicas_.group != nullptr) {
    SHOAL_RETURN_IF_ERROR(replicas_.group->AllReduceSum(std::span(&sum, 1)));
  }
  return std::sqrt(sum);
}

void ZeroOptimiser::ScaleGradient(double factor) {
  for (std::size_t unit = 0; unit < units_.size(); ++unit) Gradient(unit).mul_(factor);
}

absl::Status ZeroOptimiser::Step(double rate) {
  optimiser_.Step(rate);
  if (!divides(ZeroStage::kOptimiser) || divides_parameters()) return absl::OkStatus();
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    SHOAL_RETURN_IF_ERROR(GatherParts(Parameters(unit), arrays_.parameters[unit]));
  }
  return absl::OkStatus();
}

absl::StatusOr<at::Tensor> ZeroOptimiser::Gather(const std::function<at::Tensor(std::size_t)>& own,
                                                 Receivers receivers) {
  const bool receives = receivers == Receivers::kAll || reducer_.rank() == 0;
  at::Tensor all = at::empty({receives ? size() : 0}, at::kFloat);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& unit = units_[i];
    SHOAL_RETURN_IF_ERROR(GatherParts(own(i), receives ? all.narrow(0, unit.origin, unit.size)
                                                       : at::empty({unit.size}, at::kFloat)));
  }
  return all;
}

absl::StatusOr<at::Tensor> ZeroOptimiser::GatherParameters(Receivers receivers) {
  if (divides_parameters()) {
    return Gather([this](std::size_t unit) { return Parameters(unit); }, receivers);
  }
  if (receivers == Receivers::kRankZero && reducer_.rank() != 0) return at::empty({0}, at::kFloat);
  return at::cat(arrays_.parameters).cpu();
}

absl::StatusOr<FlatOptimiser::Moments> ZeroOptimiser::GatherMoments(Receivers receivers) {
  const FlatOptimiser::Moments& own = optimiser_.moments();
  const auto all = [&](const at::Tensor& kept) -> absl::StatusOr<at::Tensor> {
    if (!divides(ZeroStage::kOptimiser)) return kept.cpu();
    return Gather([&](std::size_t unit) { return KeptPart(kept, unit); }, receivers);
  };
  SHOAL_ASSIGN_OR_RETURN(at::Tensor first, all(own.first));
  at::Tensor second = own.second;
  if (has_second_moment_) {
    SHOAL_ASSIGN_OR_RETURN(second, all(own.second));
  }
  return FlatOptimiser::Moments{std::move(first), std::move(second), own.steps};
}

void ZeroOptimiser::RestoreParameters(const at::Tensor& parameters) {
  if (kept_parameters_.defined()) {
    kept_parameters_.copy_(Kept(parameters));
    return;
  }
  for (std::size_t i = 0; i < units_.size(); ++i) {
    arrays_.parameters[i].copy_(parameters.narrow(0, units_[i].origin, units_[i].size));
  }
}

void ZeroOptimiser::RestoreMoments(const FlatOptimiser::Moments& moments) {
  optimiser_.Restore({Kept(moments.first),
                      has_second_moment_ ? Kept(moments.second) : moments.second, moments.steps});
}

std::int64_t ZeroOptimiser::parameter_bytes() const {
  std::int64_t bytes = kept_parameters_.defined() ? MemoryOf(kept_parameters_) : 0;
  for (const at::Tensor& parameters : arrays_.parameters) bytes += MemoryOf(parameters);
  return bytes;
}

std::int64_t ZeroOptimiser::moment_bytes() const {
  return MemoryOf(optimiser_.moments().first) + MemoryOf(optimiser_.moments().second);
}

std::int64_t ZeroOptimiser::gradient_bytes() const {
  std::int64_t bytes = kept_gradient_.defined() ? MemoryOf(kept_gradient_) : 0;
  for (const at::Tensor& gradients : arrays_.gradients) bytes += MemoryOf(gradients);
  return bytes;
}

std::int64_t ZeroOptimiser::residual_bytes() const {
  std::size_t floats = 0;
  for (const std::vector<float>& residual : residuals_) floats += residual.size();
  return static_cast<std::int64_t>(floats * sizeof(float));
}

}  // namespace shoal::training
