// SPDX-License-Identifier: Apache-2.0
// Adapts the network of lib/rl/model to the core's ActingPolicy.
#pragma once

#include <memory>
#include <utility>

#include "inference/core/policy_set.h"
#include "rl/model/candidate_table.h"
#include "rl/model/policy.h"

namespace shoal::inference {

class ModelPolicy final : public ActingPolicy {
 public:
  // All versions share `cache`, which only the acting thread uses.
  ModelPolicy(std::shared_ptr<const model::Policy> policy,
              std::shared_ptr<model::SimilarityCache> cache)
      : policy_(std::move(policy)), cache_(std::move(cache)) {}

  absl::StatusOr<model::PolicyOutputs> Act(const model::PolicyInputs& inputs) const override {
    return policy_->Act(inputs, *cache_);
  }

  const std::shared_ptr<const model::Policy>& policy() const { return policy_; }

 private:
  const std::shared_ptr<const model::Policy> policy_;
  const std::shared_ptr<model::SimilarityCache> cache_;
};

}  // namespace shoal::inference
