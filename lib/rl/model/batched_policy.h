// SPDX-License-Identifier: Apache-2.0
// Evaluates one version of the policy for whole batches on a device: the rows travel there in one
// copy, except frames, which go in slices; actions, probabilities and values come back in one.
//
// The parameters, the candidates' embeddings and keys, and the cosines of goals that act stay on
// the device. A batch that brings a new goal or a new table takes it along. Thread-safe. This
// header shows torch and is for this folder only. Methods throw what torch throws.
//
// On a GPU all versions queue their work on one stream of their own, so that it neither waits for
// nor delays what other threads do on the device, and the copies of frames on another: while one
// slice of a large batch passes through the convolution, the next one travels.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

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
    // May be null. Keys and cosines are shared with it when it projects candidates in the same way
    // on the same device.
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
  struct Arrays;
  struct Group;

  struct Streams {
    std::optional<c10::Stream> compute;
    std::optional<c10::Stream> copies;
  };

  static Streams StreamsOn(at::Device device, const BatchedPolicy* previous);
  at::Tensor Convolve(const FrameUpload& frames) const;
  NetworkInputs Inputs(const PolicyInputs& inputs, const Arrays& arrays, const DeviceBatch& batch,
                       const at::Tensor& alive) const;
  // Adds to `batch` what the rows of each catalog need.
  std::vector<Group> PlanCandidates(const PolicyInputs& inputs, SimilarityCache& cache,
                                    DeviceBatch& batch) const;
  at::Tensor CosinesOf(const Group& group, const DeviceBatch& batch) const;
  std::size_t Record(const PolicyInputs& inputs, const Group& group,
                     const std::vector<at::Tensor>& host, std::size_t next,
                     PolicyOutputs& outputs) const;

  const PolicySpec spec_;
  const at::Device device_;
  // Absent on a CPU.
  const Streams streams_;
  const Network network_;
  // Present where the convolution computes in bfloat16.
  std::optional<BlockedConvolution> convolution_;
  std::shared_ptr<const KeyCache> keys_;
  std::shared_ptr<GoalRows> goals_;
};

}  // namespace shoal::model
