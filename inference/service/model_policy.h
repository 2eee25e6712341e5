// SPDX-License-Identifier: Apache-2.0
// Adapts the network of lib/rl/model to the core's ActingPolicy.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "inference/core/policy_set.h"
#include "rl/model/candidate_table.h"
#include "rl/model/policy.h"

namespace shoal::inference {

class ModelPolicy final : public ActingPolicy {
 public:
  struct Replica {
    std::shared_ptr<const model::Policy> policy;
    // All versions share it, and only the replica's thread uses it.
    std::shared_ptr<model::SimilarityCache> cache;
  };
  explicit ModelPolicy(std::vector<Replica> replicas) : replicas_(std::move(replicas)) {}

  absl::StatusOr<model::PolicyOutputs> Act(const model::PolicyInputs& inputs,
                                           std::size_t replica) const override {
    return replicas_[replica].policy->Act(inputs, *replicas_[replica].cache);
  }

  const model::Policy& policy(std::size_t replica) const { return *replicas_[replica].policy; }

 private:
  const std::vector<Replica> replicas_;
};

}  // namespace shoal::inference
