// SPDX-License-Identifier: Apache-2.0
// A small task for continuous actions: which point of a box the observation names.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/runtime/random.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/model/policy.h"

namespace shoal::algorithms {

// Each episode is one step: the reward is minus the squared distance of the action's first two
// numbers from what the observation names.
inline UnrollBatch PointEpisodes(const model::Policy& policy, std::int64_t columns,
                                 std::uint64_t number, model::Choice choice) {
  runtime::Random random(21, number);
  model::SimilarityCache cache(1);
  model::PolicyInputs inputs;
  inputs.rows = columns;
  const auto rows = static_cast<std::size_t>(columns);
  for (std::size_t i = 0; i < 3 * rows; ++i) {
    inputs.observation.push_back(static_cast<float>(1.2 * random.Uniform() - 0.6));
  }
  inputs.core_state.assign(rows * static_cast<std::size_t>(policy.spec().core_state_size()), 0);
  inputs.first.assign(rows, 1);
  inputs.choice.assign(rows, choice);
  inputs.draw.assign(rows, 0);
  const auto width = static_cast<std::size_t>(policy.spec().action_count);
  for (std::size_t i = 0; i < 2 * width * rows; ++i) inputs.box_draws.push_back(random.Uniform());
  const model::PolicyOutputs outputs = policy.Act(inputs, cache).value();
  UnrollBatch batch;
  batch.length = 1;
  batch.columns = columns;
  batch.observation = inputs.observation;
  batch.observation.resize(2 * inputs.observation.size());
  batch.box_action = outputs.box_action;
  for (std::size_t row = 0; row < rows; ++row) {
    const float x = outputs.box_action[width * row] - inputs.observation[3 * row];
    const float y = outputs.box_action[width * row + 1] - inputs.observation[3 * row + 1];
    batch.reward.push_back(-(x * x + y * y));
  }
  batch.behaviour_log_probability = outputs.log_probability;
  batch.weight.assign(rows, 1);
  batch.core_state = inputs.core_state;
  batch.value = outputs.value;
  batch.value.resize(2 * rows, 0);
  batch.flags.assign(rows, kFirst | kTerminated);
  batch.flags.resize(2 * rows, 0);
  return batch;
}

}  // namespace shoal::algorithms
