// SPDX-License-Identifier: Apache-2.0
// A trainer that is its only rank, its current policy, and what it learns from replayed unrolls.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rl/algorithms/policy_trainer.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/model/policy.h"
#include "tests/rl/algorithms/pointer_task.h"

namespace shoal::algorithms {

inline constexpr std::uint64_t kTrainerSeed = 7;

inline std::unique_ptr<PolicyTrainer> Trainer(const model::PolicySpec& spec,
                                              const AlgorithmOptions& options = {},
                                              const model::ComputeDevice& device = {}) {
  static collectives::SingleRank alone;
  return PolicyTrainer::Create(spec, options, kTrainerSeed, alone, device).value();
}

// Returns how far `found` is from `expected`, in multiples of how far that is from `before`.
inline double RelativeDistance(const std::vector<float>& found, const std::vector<float>& expected,
                               const std::vector<float>& before) {
  double distance = 0;
  double way = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    distance += std::pow(static_cast<double>(found[i]) - static_cast<double>(expected[i]), 2);
    way += std::pow(static_cast<double>(before[i]) - static_cast<double>(expected[i]), 2);
  }
  return std::sqrt(distance / way);
}

inline std::shared_ptr<const model::Policy> PolicyOf(const PolicyTrainer& trainer,
                                                     const model::PolicySpec& spec) {
  const std::string bytes = trainer.SerializeParameters({}).value();
  return model::Policy::FromSafetensors(spec, bytes, nullptr).value();
}

// Trains on unrolls of a PointerTask of so many columns, each of them several times, and returns
// the share of right answers of the policy without exploration.
inline double SuccessAfterReplay(const model::PolicySpec& spec, const AlgorithmOptions& options,
                                 std::int64_t columns) {
  const auto trainer = Trainer(spec, options);
  PointerTask task(spec, {.columns = columns});
  std::vector<UnrollBatch> replay;
  for (std::size_t update = 0; update < 300; ++update) {
    if (update % 4 == 0) replay.push_back(task.Play(*PolicyOf(*trainer, spec), 6));
    REQUIRE(trainer->Update(replay[update * 7 % replay.size()]).ok());
  }
  PointerTask greedy(spec, {.columns = 32, .epsilon = 0});
  greedy.Play(*PolicyOf(*trainer, spec), 12);
  return greedy.TakeSuccess();
}

}  // namespace shoal::algorithms
