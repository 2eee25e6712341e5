// SPDX-License-Identifier: Apache-2.0
// Evaluates one version of the policy for whole batches on a device: the rows travel there in one
// copy, except frames, which go in slices; actions, probabilities and values come back in one.
//
// The parameters, the candidates' embeddings and keys, and the cosines of goals that act stay on
// the device; new goals are sent beside the batch that brings them. Thread-safe. This header shows
// torch and is for this folder only. Methods throw what torch throws.
//
// On a GPU all versions queue their work on one stream of their own, so that it neither waits for
// nor delays what other threads do on the device, and the copies of frames on another: while one
// slice of a large batch passes through the convolution, the next one travels.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <memory>
#include <optional>
#include <vector>

#include "rl/model/acting_graphs.h"
#include "rl/model/batch_plan.h"
#include "rl/model/blocked_convolution.h"
#include "rl/model/key_cache.h"
#include "rl/model/network.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/policy.h"
#include "rl/model/policy_spec.h"
#include "rl/model/similarity_cache.h"
#include "rl/model/torch_device.h"

namespace shoal::model {

class BatchedPolicy {
 public:
  struct Options {
    // Of the convolution.
    Precision precision = Precision::kFloat32;
    // Repeats recorded forward passes (acting_graphs.h), unless there is a convolution, which keeps
    // the device busy anyway.
    bool graphs = false;
    // May be null. Keys and cosines are shared with it when it projects candidates in the same way
    // on the same device, and recordings when it is of the same spec there.
    const BatchedPolicy* previous = nullptr;
  };

  // `flat` [layout.total] lies on the device that computes.
  BatchedPolicy(const PolicySpec& spec, const ParameterLayout& layout, const at::Tensor& flat,
                const Options& options);
  ~BatchedPolicy();

  // Evaluates the rows. REQUIRES: CheckInputs accepted `inputs`, which has rows.
  PolicyOutputs Act(const PolicyInputs& inputs, SimilarityCache& cache) const;

 private:
  class GoalRows;

  struct Streams {
    std::optional<c10::Stream> compute;
    std::optional<c10::Stream> copies;
    std::optional<c10::Stream> recording;
  };

  static Streams StreamsOn(at::Device device, const BatchedPolicy* previous);
  at::Tensor Convolve(const FrameUpload& frames) const;
  std::vector<ActingGraphs::Candidates> CandidatesOf(const BatchPlan& plan) const;
  // Returns the cosines of the goals, [N] each.
  std::vector<at::Tensor> CosinesOf(const std::vector<SimilarityCache::Row>& goals) const;

  const std::shared_ptr<const PolicySpec> spec_;
  const at::Device device_;
  // Absent on a CPU.
  const Streams streams_;
  const at::Tensor flat_;
  const Network network_;
  // Present where the convolution computes in bfloat16.
  std::optional<BlockedConvolution> convolution_;
  std::shared_ptr<const KeyCache> keys_;
  std::shared_ptr<GoalRows> goals_;
  // Null without graphs.
  std::shared_ptr<ActingGraphs> graphs_;
};

}  // namespace shoal::model
