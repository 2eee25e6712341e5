// SPDX-License-Identifier: Apache-2.0
// A trainer that is its only rank, and its current policy.
#pragma once

#include <cstdint>
#include <memory>

#include "rl/algorithms/policy_trainer.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/model/policy.h"

namespace shoal::algorithms {

inline constexpr std::uint64_t kTrainerSeed = 7;

inline std::unique_ptr<PolicyTrainer> Trainer(const model::PolicySpec& spec,
                                              const AlgorithmOptions& options = {}) {
  static collectives::SingleRank alone;
  return PolicyTrainer::Create(spec, options, kTrainerSeed, alone).value();
}

inline std::shared_ptr<const model::Policy> PolicyOf(const PolicyTrainer& trainer,
                                                     const model::PolicySpec& spec) {
  const std::string bytes = trainer.SerializeParameters({}).value();
  return model::Policy::FromSafetensors(spec, bytes, nullptr).value();
}

}  // namespace shoal::algorithms
