// SPDX-License-Identifier: Apache-2.0
// Evaluates one version of the policy for whole batches on a device: the rows travel there in one
// copy, all arithmetic is torch's, and actions, probabilities and values come back in one.
//
// The parameters, the candidates' embeddings and keys, and the cosines of goals that act stay on
// the device. A batch that brings a new goal or a new table takes it along. Thread-safe. This
// header shows torch and is for this folder only. Methods throw what torch throws.
//
// On a GPU all versions queue their work on one stream of their own, so that it neither waits for
// nor delays what other threads do on the device.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

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
  // `flat` [layout.total] lies on the device that computes. Keys and cosines are shared with
  // `previous`, which may be null, when that projects candidates in the same way on the same
  // device.
  BatchedPolicy(const PolicySpec& spec, const ParameterLayout& layout, const at::Tensor& flat,
                const BatchedPolicy* previous);
  ~BatchedPolicy();

  // Evaluates the rows. REQUIRES: CheckInputs accepted `inputs`, which has rows.
  PolicyOutputs Act(const PolicyInputs& inputs, SimilarityCache& cache) const;

 private:
  class GoalRows;
  struct Arrays;
  struct Group;

  static std::optional<c10::Stream> StreamOn(at::Device device, const BatchedPolicy* previous);
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
  const std::optional<c10::Stream> stream_;
  const Network network_;
  std::shared_ptr<const KeyCache> keys_;
  std::shared_ptr<GoalRows> goals_;
};

}  // namespace shoal::model
