// SPDX-License-Identifier: Apache-2.0
// What one batch of rows tells a device: arrays in one buffer, and the operations of the policy's
// forward pass over them.
//
//   BatchPlan plan(spec, inputs, cache, device, /*padded=*/false);
//   plan.Send();
//   PolicyOutputs outputs = plan.Outputs(inputs, ToHost(plan.Forward(network, candidates, {})));
//
// A padded plan rounds the numbers of rows, candidates and marks up (shape_bucket.h). Plans of the
// same Shape queue the same operations on arrays of the same sizes at the same places of their
// buffers, so one of them can stand for all (acting_graphs.h). What is added chooses nothing.
//
// Not thread-safe. This header shows torch and is for this folder only. Methods throw what torch
// throws.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rl/model/candidate_batch.h"
#include "rl/model/catalog_rows.h"
#include "rl/model/choice_batch.h"
#include "rl/model/network.h"
#include "rl/model/policy.h"
#include "rl/model/policy_spec.h"
#include "rl/model/similarity_cache.h"
#include "rl/model/torch_device.h"

namespace shoal::model {

class BatchPlan {
 public:
  // Rows that choose together: those of one catalog, or all rows of a discrete head.
  struct Group {
    CatalogRows members;
    // The members and what was added to them.
    std::int64_t rows = 0;
    DeviceBatch::Array which;
    ChoiceBatch choices;
    std::optional<CandidateBatch> candidates;
    // The goals of the members, each once.
    std::vector<SimilarityCache::Row> goals;
    // Of each member; empty for a discrete head.
    std::vector<GoalSimilarity> similarities;
    // Whether logits come back, since a member chooses by similarity.
    bool returns_logits = false;
  };

  // What lies on the device for the candidates of a group, besides the batch.
  struct CandidateTensors {
    at::Tensor keys;           // [N, P]
    at::Tensor cosines;        // [at least the number of goals, N]
    at::Tensor appended_keys;  // CandidateBatch::AppendedKeys
  };

  // REQUIRES: CheckInputs accepted `inputs`, which has rows.
  BatchPlan(std::shared_ptr<const PolicySpec> spec, const PolicyInputs& inputs,
            SimilarityCache& cache, at::Device device, bool padded);

  // All numbers that decide which operations are queued, and the sizes of what they read.
  std::vector<std::int64_t> Shape() const;
  // Groups of candidates are in the order of their catalogs' ids.
  std::span<const Group> groups() const { return groups_; }

  DeviceBatch& batch() { return batch_; }
  const DeviceBatch& batch() const { return batch_; }

  // Queues the forward pass. `candidates` has one element for each group of candidates. With a
  // convolution `convolved` is what it made of the frames. REQUIRES: the batch was sent.
  std::vector<at::Tensor> Forward(const Network& network,
                                  std::span<const CandidateTensors> candidates,
                                  const at::Tensor& convolved) const;
  // Returns what the rows chose, from what Forward returned, on the host. `inputs` are those of the
  // constructor.
  PolicyOutputs Outputs(const PolicyInputs& inputs, const std::vector<at::Tensor>& host) const;
  // Frees what only Outputs and whoever calls groups() need, so that a plan may be kept for
  // Forward.
  void ForgetRows();

 private:
  // Where the inputs of the network lie in the batch.
  struct Arrays {
    DeviceBatch::Array observation;
    DeviceBatch::Array contents;
    DeviceBatch::Array past_requests;
    DeviceBatch::Array mark_counts;
    DeviceBatch::Array core_state;
    DeviceBatch::Array legal;
    DeviceBatch::Array alive;
  };

  void AddArrays(const PolicyInputs& inputs);
  void AddCandidates(const PolicyInputs& inputs, SimilarityCache& cache);
  void AddDiscrete(const PolicyInputs& inputs);
  NetworkInputs Inputs(const at::Tensor& alive) const;
  std::size_t Record(const PolicyInputs& inputs, const Group& group,
                     const std::vector<at::Tensor>& host, std::size_t next,
                     PolicyOutputs& outputs) const;

  const std::shared_ptr<const PolicySpec> spec_;
  const bool padded_;
  const std::int64_t rows_;
  DeviceBatch batch_;
  Arrays arrays_;
  std::vector<Group> groups_;
};

}  // namespace shoal::model
