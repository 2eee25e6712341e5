// SPDX-License-Identifier: Apache-2.0
// The options of training: section [algorithm].
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/config.h"
#include "platform/runtime/status.h"
#include "rl/algorithms/targets.h"
#include "rl/estimators/reward_clipping.h"
#include "rl/estimators/vtrace.h"
#include "rl/model/policy_spec.h"
#include "rl/training/optimiser_options.h"

namespace shoal::algorithms {

struct AlgorithmOptions {
  // One of AlgorithmNames() (algorithm_registry.h).
  std::string name = "ppo";
  double gamma = 0.99;
  // DQN, IQN: N, the policies of a family whose discounts go from gamma of policy 0 to least_gamma
  // of policy N - 1 (estimators/exploration_family.h). Observations then end with N numbers that
  // tell the policy, which the actor appends (environment.exploration) and which
  // policy.observation_size does not count, as it does not count those that split_values need.
  // 0: there is no family.
  std::int64_t members = 0;
  double least_gamma = 0.99;
  // The discount of policy 7 of Agent57's family, between the two, with at least 10 policies.
  // 0: discounts are those of NGU.
  double middle_gamma = 0;
  // With split_values: the share of the unrolls of a batch that are trained on as if a policy drawn
  // at random had played them (relabelling.h).
  double relabelled_share = 0;
  double lambda = 0.95;
  // PPO, GRPO: the importance weight is clipped to 1 +- clip; 0 for no clip.
  double clip = 0.2;
  // PPO, GRPO: the cap on the importance weight for negative advantages; 0 for no cap.
  double dual_clip = 3.0;
  // PPO: the coefficient of the penalty on the KL of behaviour policy and current policy in the
  // first update; 0 for no penalty. After each update it is halved or doubled to hold kl_target, as
  // in section 4 of the paper, and with a kl_target of 0 it stays.
  double kl_coefficient = 0.0;
  // A2C: what is added to an action's probability before its logarithm is taken (GA3C); 0 for
  // nothing.
  double probability_floor = 0.0;
  // V-trace: caps on the importance weight in the temporal difference, in the trace, and in the
  // policy's advantage.
  double clip_rho = 1.0;
  double clip_c = 1.0;
  double clip_advantage_rho = 1.0;
  // The limit on how far the value may move from the behaviour policy's in one update; 0 for none.
  double value_clip = 0.0;
  double value_coefficient = 0.5;
  // DQN, IQN, SAC: rewards that count before a later value does.
  std::int64_t n_step = 1;
  // DQN, IQN: whether the trained network chooses the action whose value the target network states.
  bool double_q = true;
  // DQN: whether targets are those of Retrace with `lambda` instead of n-step returns.
  bool retrace = false;
  // DQN, IQN: the target network becomes the trained one every this many updates.
  std::int64_t target_updates = 200;
  // SAC: the share by which the target critics approach the trained ones in each update.
  double target_rate = 0.005;
  // SAC with discrete actions: the temperature holds the entropy at this share of the logarithm of
  // the number of actions. With a box it holds -1 nat for each dimension.
  double target_entropy_share = 0.98;
  // IQN: quantiles of a row's return that are trained, and quantiles that make its target (N and N'
  // of Dabney et al. 2018).
  std::int64_t quantiles = 8;
  std::int64_t target_quantiles = 8;
  // DQN: errors above this count linearly (Huber); 0 squares all of them. IQN: the same for each
  // pair of quantiles, divided by this; with 0 all count linearly.
  double huber = 1.0;
  // DQN, IQN: whether action values are signed-hyperbolic transforms of returns.
  bool transform_values = false;
  // DQN, IQN, SAC: the priority of an unroll is this share of its greatest absolute error and the
  // rest of the mean (Kapturowski et al. 2019, section 2.3).
  double priority_maximum_share = 0.9;
  // beta: how far importance weights correct for the probabilities of prioritized replay. It goes
  // in a straight line to importance_exponent_end over schedule_updates (Schaul et al. 2016); below
  // 0 it stays.
  double importance_exponent = 0.4;
  double importance_exponent_end = -1;
  // The weight of the entropy goes in the same way to entropy_end; below 0 it stays.
  double entropy = 0.01;
  double entropy_end = -1;
  // CEM: the percentile of the returns of a batch from which on episodes are imitated.
  double elite_percentile = 70;
  double learning_rate = 1e-3;
  // One of training::OptimiserNames() (training/flat_optimiser.h). "adam" and "adamw" are the same
  // without weight decay.
  std::string optimiser = "adamw";
  // SGD, RMSProp: the share of earlier steps that a step adds to its own.
  double momentum = 0.0;
  // Adam, AdamW, RMSProp: the decay of the running mean of squared gradients; Lion's second decay.
  double square_decay = 0.999;
  // Adam, AdamW, RMSProp: what is added to the root of that mean.
  double adam_epsilon = 1e-5;
  // Decoupled from the gradient, except with "adam" (training/flat_optimiser.h).
  double weight_decay = 0.0;
  // "constant", "linear" (to schedule_end times learning_rate over schedule_updates, and constant
  // from then on), or "kl" (divides or multiplies the rate by 1.5 to hold kl_target).
  std::string schedule = "constant";
  std::int64_t schedule_updates = 1000;
  double schedule_end = 0.0;
  double kl_target = 0.01;
  std::int64_t update_epochs = 3;
  std::int64_t minibatches = 4;
  // The parts of nearly equal size into which each rank's part of a minibatch is cut. Their
  // gradients add up before ranks sum them in one call, so a step changes by rounding alone, and
  // the activations of one part are held at a time.
  std::int64_t accumulation_steps = 1;
  double max_gradient_norm = 0.5;
  // Epochs over a batch stop once the KL of an epoch exceeds this; 0 for never.
  double kl_stop = 0.0;
  bool normalise_advantages = true;
  // A factor on rewards, after what follows.
  double reward_scale = 1.0;
  // "none", "symmetric" (into [-reward_limit, reward_limit]) or "asymmetric" (losses count little;
  // estimators/reward_clipping.h).
  std::string reward_clipping = "none";
  double reward_limit = 1.0;
  // Whether rewards are divided by the running deviation of discounted returns
  // (algorithms/normalisation.h).
  bool normalise_returns = false;

  void Visit(runtime::Visitor& visitor);

  TargetOptions targets() const {
    return {.gamma = gamma, .lambda = lambda, .reward_scale = reward_scale};
  }
  estimators::RewardClipping clipping() const {
    if (reward_clipping == "symmetric") return estimators::RewardClipping::kSymmetric;
    if (reward_clipping == "asymmetric") return estimators::RewardClipping::kAsymmetric;
    return estimators::RewardClipping::kNone;
  }
  ActionValueTargetOptions action_value_targets() const;
  // Makes the network see which policy of the family acts, and makes room for the numbers that
  // split_values need. INVALID_ARGUMENT, which names the knob, where it cannot, and for discounts
  // that no family has.
  absl::Status AppendMembers(model::PolicySpec& policy) const;
  // INVALID_ARGUMENT for an unknown optimiser, or an option of it that is out of range.
  absl::StatusOr<training::OptimiserOptions> optimiser_options() const;
  // What the two are in the update after so many.
  double EntropyAfter(std::int64_t updates) const;
  double ImportanceExponentAfter(std::int64_t updates) const;
  estimators::VtraceOptions vtrace() const {
    return {.clip_rho = clip_rho, .clip_c = clip_c, .clip_advantage_rho = clip_advantage_rho};
  }
};

}  // namespace shoal::algorithms
