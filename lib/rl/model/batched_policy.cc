// SPDX-License-Identifier: Apache-2.0
#include "rl/model/batched_policy.h"

#include <ATen/ops/cat.h>
#include <c10/core/StreamGuard.h>

#include <cstddef>
#include <unordered_map>
#include <utility>

#include "platform/runtime/mutex.h"

namespace shoal::model {

// The cosines of goals on the device, by the object of the SimilarityCache. Thread-safe.
class BatchedPolicy::GoalRows {
 public:
  // Returns an undefined tensor for a goal that is not here.
  at::Tensor Find(const SimilarityCache::Row& row) {
    const runtime::MutexLock lock(mutex_);
    const auto found = rows_.find(row);
    return found == rows_.end() ? at::Tensor() : found->second;
  }
  // When the limit is exceeded, every goal has to come again.
  void Insert(const SimilarityCache::Row& row, const at::Tensor& cosines) {
    const runtime::MutexLock lock(mutex_);
    if (bytes_ > kMaximumBytes) {
      rows_.clear();
      bytes_ = 0;
    }
    if (rows_.emplace(row, cosines).second) bytes_ += cosines.nbytes();
  }

 private:
  static constexpr std::size_t kMaximumBytes = std::size_t{256} << 20;

  runtime::Mutex mutex_;
  std::unordered_map<SimilarityCache::Row, at::Tensor> rows_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

BatchedPolicy::Streams BatchedPolicy::StreamsOn(at::Device device, const BatchedPolicy* previous) {
  if (device.is_cpu()) return {};
  if (previous != nullptr && previous->device_ == device) return previous->streams_;
  const auto next = [&] { return StreamOn(device, /*high_priority=*/true); };
  return {.compute = next(), .copies = next(), .recording = next()};
}

BatchedPolicy::BatchedPolicy(const PolicySpec& spec, const ParameterLayout& layout,
                             const at::Tensor& flat, const Options& options)
    : spec_(std::make_shared<const PolicySpec>(spec)),
      device_(flat.device()),
      streams_(StreamsOn(flat.device(), options.previous)),
      flat_(flat),
      network_(spec, layout, flat, /*gradient=*/at::Tensor()) {
  // What is computed here is ready before what Act queues on the same stream.
  const c10::OptionalStreamGuard on_stream(streams_.compute);
  if (options.precision == Precision::kBfloat16) {
    convolution_.emplace(ConvolutionOf(spec).value(), network_.parameters());
  }
  const BatchedPolicy* const previous = options.previous;
  const bool same = previous != nullptr && previous->device_ == device_;
  goals_ = same ? previous->goals_ : std::make_shared<GoalRows>();
  if (options.graphs && !spec.has_convolution()) {
    const bool shared =
        same && previous->graphs_ != nullptr && previous->spec_->Digest() == spec.Digest();
    graphs_ = shared ? previous->graphs_
                     : std::make_shared<ActingGraphs>(spec, layout, device_, streams_.recording);
  }
  keys_ = previous == nullptr ? KeyCache::For(network_, nullptr, nullptr)
                              : KeyCache::For(network_, &previous->network_, previous->keys_);
}

BatchedPolicy::~BatchedPolicy() = default;

at::Tensor BatchedPolicy::Convolve(const FrameUpload& frames) const {
  std::vector<at::Tensor> parts;
  for (std::size_t i = 0; i < frames.slices(); ++i) {
    const at::Tensor slice = frames.Slice(i);
    parts.push_back(convolution_ ? convolution_->Of(slice) : network_.Convolved(slice));
  }
  return parts.size() == 1 ? parts[0] : at::cat(parts);
}

std::vector<at::Tensor> BatchedPolicy::CosinesOf(
    const std::vector<SimilarityCache::Row>& goals) const {
  DeviceBatch arrays(device_);
  std::vector<at::Tensor> cosines;
  std::vector<std::pair<std::size_t, DeviceBatch::Array>> added;
  for (const SimilarityCache::Row& goal : goals) {
    cosines.push_back(goals_->Find(goal));
    if (!cosines.back().defined()) added.emplace_back(cosines.size() - 1, arrays.Add(goal->cosine));
  }
  arrays.Send();
  for (const auto& [place, array] : added) {
    const SimilarityCache::Row& goal = goals[place];
    // A copy, so that the cosines do not keep those of the others.
    cosines[place] = arrays.Get(array, {static_cast<std::int64_t>(goal->cosine.size())}).clone();
    goals_->Insert(goal, cosines[place]);
  }
  return cosines;
}

std::vector<ActingGraphs::Candidates> BatchedPolicy::CandidatesOf(const BatchPlan& plan) const {
  const auto keys = [this](const CandidateTable& table) { return keys_->Of(table, network_); };
  std::vector<ActingGraphs::Candidates> candidates;
  for (const BatchPlan::Group& group : plan.groups()) {
    if (!group.candidates) continue;
    candidates.push_back({.keys = keys(*group.members.catalog),
                          .cosines = CosinesOf(group.goals),
                          .appended_keys = group.candidates->AppendedKeys(plan.batch(), keys)});
  }
  return candidates;
}

PolicyOutputs BatchedPolicy::Act(const PolicyInputs& inputs, SimilarityCache& cache) const {
  const c10::OptionalStreamGuard on_stream(streams_.compute);
  if (graphs_ != nullptr) {
    const auto plan = std::make_shared<BatchPlan>(spec_, inputs, cache, device_, /*padded=*/true);
    const auto candidates = [this](const BatchPlan& sent) { return CandidatesOf(sent); };
    PolicyOutputs outputs = plan->Outputs(
        inputs, graphs_->Run(plan, {.network = network_, .flat = flat_, .candidates = candidates}));
    // A recording may keep the plan.
    plan->ForgetRows();
    return outputs;
  }
  FrameUpload frames(device_, streams_.copies);
  at::Tensor convolved;
  if (spec_->has_convolution()) {
    frames.Send(inputs.frames, inputs.rows);
    // Before the rest of the batch is gathered, so that the device has work meanwhile.
    convolved = Convolve(frames);
  }
  BatchPlan plan(spec_, inputs, cache, device_, /*padded=*/false);
  plan.batch().Send();
  std::vector<BatchPlan::CandidateTensors> candidates;
  for (const ActingGraphs::Candidates& one : CandidatesOf(plan)) {
    candidates.push_back(one.Tensors());
  }
  return plan.Outputs(inputs, ToHost(plan.Forward(network_, candidates, convolved)));
}

}  // namespace shoal::model
