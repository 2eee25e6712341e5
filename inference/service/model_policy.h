// SPDX-License-Identifier: Apache-2.0
// Adapts the network of lib/rl/model to the core's ActingPolicy.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "inference/core/policy_set.h"
#include "platform/runtime/status.h"
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

// Makes the replica of one device.
using ReplicaMaker = std::function<absl::StatusOr<ModelPolicy::Replica>()>;

// Makes the replicas of `version` in the order of `makers` and puts it once: as what OnMissing
// asked for, where `asked` is given, and as a published version otherwise. Returns the first error
// of a maker. Then it calls no further maker and puts nothing, so no device acts by this version.
inline absl::Status PutReplicas(VersionedPolicy version, const std::vector<ReplicaMaker>& makers,
                                PolicySet& policies, const std::optional<PolicySelector>& asked) {
  std::vector<ModelPolicy::Replica> made;
  for (const ReplicaMaker& maker : makers) {
    SHOAL_ASSIGN_OR_RETURN(made.emplace_back(), maker());
  }
  version.policy = std::make_shared<ModelPolicy>(std::move(made));
  if (asked) {
    policies.PutFetched(*asked, std::move(version));
  } else {
    policies.Put(std::move(version));
  }
  return absl::OkStatus();
}

}  // namespace shoal::inference
