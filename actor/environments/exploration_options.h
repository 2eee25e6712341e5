// SPDX-License-Identifier: Apache-2.0
// Section [environment.exploration]: whether and how environments reward novelty.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/config.h"

namespace shoal::actor {

struct ExplorationOptions {
  // N: the policies of the family, of which each training episode plays one. 0: novelty is not
  // rewarded, and observations are those of the task. The learner has the same number as
  // algorithm.members.
  std::int64_t members = 0;
  // Which policy plays an episode: the meta-controller (meta_controller.h) chooses it by the task's
  // returns of this many last episodes of the environment, or with 0 policies are drawn alike.
  std::int64_t bandit_window = 0;
  // How far the bound of a policy that played once lies above its mean return, in units of returns,
  // and the share of episodes whose policies are drawn all the same.
  double bandit_width = 1;
  double bandit_epsilon = 0.5;
  // beta of the policy that explores most; policy 0 has 0 (rl/estimators/exploration_family.h).
  double greatest_beta = 0.3;
  // Whether the rewards of task and novelty stay apart, for policy.split_values: a step's reward is
  // the task's alone, and observations begin with two numbers that tell the factor on intrinsic
  // rewards and the one of the step before (rl/estimators/exploration_family.h). Otherwise a reward
  // is their sum.
  bool split_rewards = false;
  // It says how observations of an episode are compared. With "observation" they are compared
  // themselves. With "random" a fixed random matrix makes an embedding of each. With "learned" a
  // network does, which is trained to tell actions from what they led from and to
  // (inverse_dynamics.h) and needs discrete actions.
  std::string embedding = "observation";
  // The length of embeddings that are not the observations.
  std::int64_t embedding_size = 32;
  // Learned embeddings: the factor on steps of the gradient, and the transitions that each step of
  // an environment trains on, drawn among so many last ones.
  double embedding_rate = 1;
  std::int64_t embedding_minibatch = 4;
  std::int64_t embedding_memory = 1000;
  // The neighbours that make the novelty of an observation in its episode, and the observations of
  // an episode that are remembered, the last ones.
  std::int64_t neighbours = 10;
  std::int64_t memory = 30000;
  // The most by which life-long novelty multiplies that of an episode. With 1 it does not count.
  double life_long_limit = 5;
  // How fast the predictor of random network distillation learns: about the share of its error
  // that an observation takes away.
  double life_long_rate = 0.02;

  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::actor
