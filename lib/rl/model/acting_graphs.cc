// SPDX-License-Identifier: Apache-2.0
#include "rl/model/acting_graphs.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <c10/util/Exception.h>

#include <span>

namespace shoal::model {
namespace {

at::Tensor FloatsOn(at::Device device, at::IntArrayRef shape) {
  return at::empty(shape, at::TensorOptions(at::kFloat).device(device));
}

}  // namespace

BatchPlan::CandidateTensors ActingGraphs::Candidates::Tensors() const {
  return {.keys = keys, .cosines = at::stack(cosines), .appended_keys = appended_keys};
}

ActingGraphs::ActingGraphs(const PolicySpec& spec, const ParameterLayout& layout, at::Device device,
                           const std::optional<c10::Stream>& recording, std::size_t shapes)
    : device_(device),
      recording_(recording),
      maximum_(shapes),
      memory_(GraphMemory::On(device)),
      parameters_{.values = FloatsOn(device, {layout.total}), .source = {}},
      network_(std::make_shared<const Network>(spec, layout, parameters_.values,
                                               /*gradient=*/at::Tensor())) {}

ActingGraphs::Counts ActingGraphs::counts() const {
  const runtime::MutexLock lock(mutex_);
  return counts_;
}

ActingGraphs::Entry& ActingGraphs::EntryOf(Shape shape) {
  const auto found = places_.find(shape);
  if (found != places_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front();
  }
  if (entries_.size() == maximum_) {
    places_.erase(entries_.back().shape);
    entries_.pop_back();
  }
  entries_.emplace_front();
  entries_.front().shape = shape;
  places_.emplace(std::move(shape), entries_.begin());
  return entries_.front();
}

std::shared_ptr<ActingGraphs::Resident> ActingGraphs::ResidentOf(std::uint64_t catalog,
                                                                 std::int64_t rows,
                                                                 at::IntArrayRef shape) {
  std::erase_if(residents_, [](const auto& resident) { return resident.second.expired(); });
  std::weak_ptr<Resident>& place = residents_[{catalog, rows}];
  std::shared_ptr<Resident> resident = place.lock();
  if (resident == nullptr) {
    resident =
        std::make_shared<Resident>(Resident{.values = FloatsOn(device_, shape), .source = {}});
    place = resident;
  }
  return resident;
}

void ActingGraphs::Write(BatchPlan& plan, const Version& version, Recorded& recorded) {
  const auto copy = [](const at::Tensor& source, Resident& resident) {
    if (resident.source.is_same(source)) return;
    resident.values.copy_(source);
    resident.source = source;
  };
  copy(version.flat, parameters_);
  plan.batch().SendTo(recorded.batch);
  const std::vector<Candidates> candidates = version.candidates(plan);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidates& of_batch = candidates[i];
    if (i == recorded.candidates.size()) {
      const BatchPlan::Group& group = plan.groups()[i];
      const std::uint64_t catalog = group.members.catalog->id();
      recorded.candidates.push_back(
          {.keys = ResidentOf(catalog, 0, of_batch.keys.sizes()),
           .cosines = ResidentOf(catalog, group.rows, {group.rows, of_batch.keys.size(0)}),
           .appended_keys = of_batch.appended_keys});
    }
    ResidentCandidates& resident = recorded.candidates[i];
    copy(of_batch.keys, *resident.keys);
    const auto goals = static_cast<std::int64_t>(of_batch.cosines.size());
    at::Tensor rows = resident.cosines->values.narrow(0, 0, goals);
    at::stack_out(rows, of_batch.cosines);
    if (of_batch.appended_keys.defined()) resident.appended_keys.copy_(of_batch.appended_keys);
  }
}

std::unique_ptr<ActingGraphs::Recorded> ActingGraphs::Record(const std::shared_ptr<BatchPlan>& plan,
                                                             const Version& version) {
  auto recorded = std::make_unique<Recorded>();
  recorded->batch = at::empty({plan->batch().size()}, at::TensorOptions(at::kByte).device(device_));
  Write(*plan, version, *recorded);
  std::vector<BatchPlan::CandidateTensors> candidates;
  for (const ResidentCandidates& one : recorded->candidates) {
    candidates.push_back({.keys = one.keys->values,
                          .cosines = one.cosines->values,
                          .appended_keys = one.appended_keys});
  }
  recorded->graph = std::make_unique<DeviceGraph>(
      device_, recording_, memory_,
      [plan, candidates = std::move(candidates), network = network_, parts = &recorded->parts] {
        JoinedTensors joined = Join(plan->Forward(*network, candidates, /*convolved=*/{}));
        *parts = std::move(joined.parts);
        return joined.bytes;
      });
  recorded->host = at::empty(recorded->graph->output().sizes(),
                             at::TensorOptions(at::kByte).pinned_memory(device_.is_cuda()));
  return recorded;
}

std::vector<at::Tensor> ActingGraphs::Run(const std::shared_ptr<BatchPlan>& plan,
                                          const Version& version) {
  {
    const runtime::MutexLock lock(mutex_);
    Entry& entry = EntryOf(plan->Shape());
    ++entry.uses;
    if (entry.recorded != nullptr) {
      Write(*plan, version, *entry.recorded);
    } else if (entry.uses > 1 && !entry.cannot_be_recorded) {
      try {
        entry.recorded = Record(plan, version);
        ++counts_.recorded;
      } catch (const c10::Error&) {
        entry.cannot_be_recorded = true;
      }
    }
    if (entry.recorded != nullptr) {
      entry.recorded->graph->Replay();
      CopyDown(entry.recorded->graph->output(), entry.recorded->host);
      ++counts_.repeated;
      return Split(entry.recorded->host, entry.recorded->parts);
    }
    ++counts_.one_by_one;
  }
  plan->batch().Send();
  std::vector<BatchPlan::CandidateTensors> candidates;
  for (const Candidates& one : version.candidates(*plan)) candidates.push_back(one.Tensors());
  return ToHost(plan->Forward(version.network, candidates, /*convolved=*/{}));
}

}  // namespace shoal::model
