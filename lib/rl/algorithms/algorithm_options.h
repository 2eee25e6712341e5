// SPDX-License-Identifier: Apache-2.0
// How a policy is trained: section [algorithm].
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/config.h"
#include "platform/runtime/status.h"

namespace shoal::algorithms {

struct AlgorithmOptions {
  // "ppo", or "reinforce": one pass, one minibatch, returns to the end of the unroll, no clipping.
  std::string name = "ppo";
  double gamma = 0.99;
  double lambda = 0.95;
  // PPO: how far the probability ratio counts.
  double clip = 0.2;
  // PPO: how far it counts against an action; 0: however far.
  double dual_clip = 3.0;
  // How far the value may move from the behaviour policy's in one update; 0: anywhere.
  double value_clip = 0.0;
  double value_coefficient = 0.5;
  double entropy = 0.01;
  double learning_rate = 1e-3;
  // "constant", "linear" (to 0 over schedule_updates), or "kl" (halves and doubles steps around
  // kl_target).
  std::string schedule = "constant";
  std::int64_t schedule_updates = 1000;
  double kl_target = 0.01;
  std::int64_t passes = 3;
  std::int64_t minibatches = 4;
  double max_gradient_norm = 0.5;
  // Stop passing over the batch when the KL of a pass goes above this; 0: never.
  double kl_stop = 0.0;
  bool normalise_advantages = true;
  double adam_epsilon = 1e-5;
  double weight_decay = 0.0;
  // Rewards are multiplied by this.
  double reward_scale = 1.0;

  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::algorithms
