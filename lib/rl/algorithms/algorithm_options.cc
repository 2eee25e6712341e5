// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/algorithm_options.h"

#include <cstdint>
#include <string>

#include "rl/algorithms/algorithm_registry.h"
#include "rl/estimators/exploration_family.h"
#include "rl/training/schedule.h"

namespace shoal::algorithms {
namespace {

// Goes in a straight line from `start` to `end`, and stays at `start` where `end` is below 0.
double Scheduled(double start, double end, std::int64_t update, std::int64_t updates) {
  return end < 0 ? start : end + training::LinearRate(start - end, update, updates);
}

}  // namespace

void AlgorithmOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("name", name, {.help = "algorithm", .choices = AlgorithmNames()});
  visitor.Knob("gamma", gamma, {.help = "discount", .min = 0, .max = 1});
  visitor.Knob("members", members,
               {.help = "DQN, IQN: policies of the family that explores, as "
                        "environment.exploration.members; 0: no family",
                .min = 0,
                .max = 256});
  visitor.Knob("least_gamma", least_gamma,
               {.help = "discount of the family's policy that explores most; that of the first is "
                        "gamma",
                .min = 0,
                .max = 1});
  visitor.Knob(
      "middle_gamma", middle_gamma,
      {.help = "discount of the seventh policy after the first in the family of Agent57, which has "
               "at least 10; 0: discounts are those of NGU",
       .min = 0,
       .max = 1});
  visitor.Knob("relabelled_share", relabelled_share,
               {.help = "with policy.split_values: share of unrolls that are trained on as if a "
                        "policy drawn at random had played them",
                .min = 0,
                .max = 1});
  visitor.Knob("lambda", lambda,
               {.help = "trace of the advantages, or of Retrace", .min = 0, .max = 1});
  visitor.Knob("clip", clip,
               {.help = "how far the probability ratio counts; 0: any", .min = 0, .max = 10});
  visitor.Knob(
      "dual_clip", dual_clip,
      {.help = "how far it counts where the advantage is negative, above 1; 0: any", .min = 0});
  visitor.Knob(
      "kl_coefficient", kl_coefficient,
      {.help = "PPO: weight of the KL of an update in its loss at first; from then on it is halved "
               "or doubled to hold kl_target, or stays where that is 0; 0: no penalty",
       .min = 0,
       .max = 1e8});
  visitor.Knob("probability_floor", probability_floor,
               {.help = "A2C: added to a probability before its logarithm, as in GA3C; 0: nothing",
                .min = 0,
                .max = 1});
  visitor.Knob(
      "clip_rho", clip_rho,
      {.help = "V-trace: cap on the importance weight of a temporal difference", .min = 0});
  visitor.Knob("clip_c", clip_c,
               {.help = "V-trace: cap on the importance weight in the trace", .min = 0});
  visitor.Knob("clip_advantage_rho", clip_advantage_rho,
               {.help = "V-trace: cap on the importance weight of an advantage", .min = 0});
  visitor.Knob("value_clip", value_clip,
               {.help = "how far a value may move in one update; 0: anywhere", .min = 0});
  visitor.Knob("value_coefficient", value_coefficient,
               {.help = "weight of the value's loss", .min = 0});
  visitor.Knob("n_step", n_step,
               {.help = "DQN, IQN, SAC: rewards that count before a later value does",
                .unit = "steps",
                .min = 1,
                .max = 65536});
  visitor.Knob("double_q", double_q,
               {.help = "DQN, IQN: the trained network chooses the action whose value the target "
                        "network states"});
  visitor.Knob("retrace", retrace,
               {.help = "DQN: targets are those of Retrace with lambda instead of n-step returns"});
  visitor.Knob("target_updates", target_updates,
               {.help = "DQN, IQN: the target network becomes the trained one this often",
                .unit = "updates",
                .min = 1});
  visitor.Knob("target_rate", target_rate,
               {.help = "SAC: how far the target critics approach the trained ones in an update",
                .min = 0,
                .max = 1});
  visitor.Knob("target_entropy_share", target_entropy_share,
               {.help = "SAC with discrete actions: the entropy that the temperature holds, as a "
                        "share of the greatest",
                .min = 0,
                .max = 1});
  visitor.Knob("huber", huber,
               {.help = "DQN, IQN: errors above this count linearly; 0: all are squared (DQN), or "
                        "count linearly (IQN)",
                .min = 0});
  visitor.Knob(
      "quantiles", quantiles,
      {.help = "IQN: quantiles of a row's return that are trained", .min = 1, .max = 1024});
  visitor.Knob("target_quantiles", target_quantiles,
               {.help = "IQN: quantiles that make the target of each", .min = 1, .max = 1024});
  visitor.Knob("transform_values", transform_values,
               {.help = "DQN, IQN: action values are signed-hyperbolic transforms of returns"});
  visitor.Knob(
      "priority_maximum_share", priority_maximum_share,
      {.help = "DQN, IQN: share of an unroll's greatest error in its priority; the rest is of "
               "the mean",
       .min = 0,
       .max = 1});
  visitor.Knob("importance_exponent", importance_exponent,
               {.help = "how far importance weights correct for priorities", .min = 0, .max = 1});
  visitor.Knob("importance_exponent_end", importance_exponent_end,
               {.help = "what it is from schedule_updates on, after a straight line; below 0: it "
                        "does not change",
                .min = -1,
                .max = 1});
  visitor.Knob("entropy", entropy, {.help = "weight of the entropy", .min = 0});
  visitor.Knob("entropy_end", entropy_end,
               {.help = "what it is from schedule_updates on, after a straight line; below 0: it "
                        "does not change",
                .min = -1});
  visitor.Knob("elite_percentile", elite_percentile,
               {.help = "CEM: percentile of returns from which on episodes are imitated",
                .min = 0,
                .max = 100});
  visitor.Knob("learning_rate", learning_rate,
               {.help = "rate of the optimiser", .min = 0, .max = 1});
  visitor.Knob("optimiser", optimiser,
               {.help = "what makes a step of a gradient", .choices = training::OptimiserNames()});
  visitor.Knob("momentum", momentum,
               {.help = "SGD, RMSProp: share of earlier steps that is added to a step",
                .min = 0,
                .max = 0.9999});
  visitor.Knob("square_decay", square_decay,
               {.help = "Adam, RMSProp: decay of the mean square of gradients; Lion's second decay",
                .min = 0,
                .max = 0.999999});
  visitor.Knob("adam_epsilon", adam_epsilon,
               {.help = "Adam, RMSProp: added to the root of that mean", .min = 0, .max = 1});
  visitor.Knob("weight_decay", weight_decay,
               {.help = "shrinks parameters by this times the rate; with adam part of the gradient",
                .min = 0,
                .max = 1});
  visitor.Knob("schedule", schedule,
               {.help = "of the learning rate", .choices = {"constant", "linear", "kl"}});
  visitor.Knob(
      "schedule_updates", schedule_updates,
      {.help = "when a linear schedule, entropy_end and importance_exponent_end are reached",
       .unit = "updates",
       .min = 1});
  visitor.Knob(
      "schedule_end", schedule_end,
      {.help = "where a linear schedule ends, as a share of learning_rate", .min = 0, .max = 1});
  visitor.Knob("kl_target", kl_target,
               {.help = "KL of an update for schedule kl and kl_coefficient", .min = 0});
  visitor.Knob("update_epochs", update_epochs,
               {.help = "epochs over a batch in one update", .min = 1, .max = 1000});
  visitor.Knob("minibatches", minibatches,
               {.help = "gradient steps in an epoch", .min = 1, .max = 10000});
  visitor.Knob("accumulation_steps", accumulation_steps,
               {.help = "parts of a rank's minibatch that run forward and backward one after "
                        "another, to take less memory; their gradients add up to the same step",
                .min = 1,
                .max = 10000});
  visitor.Knob("max_gradient_norm", max_gradient_norm,
               {.help = "gradients are scaled down to this norm; 0: never", .min = 0});
  visitor.Knob("kl_stop", kl_stop,
               {.help = "no further epoch once the KL of one is above this; 0: never", .min = 0});
  visitor.Knob("normalise_advantages", normalise_advantages,
               {.help = "to mean 0 and deviation 1 over the batch"});
  visitor.Knob("reward_scale", reward_scale, {.help = "factor on rewards"});
  visitor.Knob(
      "reward_clipping", reward_clipping,
      {.help = "before that factor: symmetric cuts rewards off at reward_limit, asymmetric "
               "squashes them and makes little of losses",
       .choices = {"none", "symmetric", "asymmetric"}});
  visitor.Knob("reward_limit", reward_limit,
               {.help = "largest size of a reward that is clipped symmetrically", .min = 0});
  visitor.Knob("normalise_returns", normalise_returns,
               {.help = "divides rewards by the running deviation of discounted returns"});
}

ActionValueTargetOptions AlgorithmOptions::action_value_targets() const {
  ActionValueTargetOptions targets{.gamma = gamma,
                                   .reward_scale = reward_scale,
                                   .n_step = n_step,
                                   .transformed = transform_values};
  if (members < 1) return targets;
  const auto policies = static_cast<std::size_t>(members);
  const auto family =
      middle_gamma > 0
          ? estimators::Agent57Family(
                policies,
                {.greatest_gamma = gamma, .middle_gamma = middle_gamma, .least_gamma = least_gamma})
          : estimators::NguFamily(policies, {.greatest_gamma = gamma, .least_gamma = least_gamma});
  for (const auto& policy : family) targets.member_gamma.push_back(policy.gamma);
  return targets;
}

absl::Status AlgorithmOptions::AppendMembers(model::PolicySpec& policy) const {
  if (members == 0) return absl::OkStatus();
  if (!policy.action_values || policy.has_convolution()) {
    return runtime::InvalidArgument(
        "algorithm.members is above 0, which needs policy.action_values and observations that are "
        "no frames");
  }
  if (gamma >= 1 || gamma <= 0 || least_gamma > gamma) {
    return runtime::InvalidArgument(
        "algorithm.members is above 0, which needs gamma above 0 and below 1, and least_gamma at "
        "most as large");
  }
  if (middle_gamma > 0 && (middle_gamma < least_gamma || middle_gamma > gamma)) {
    return runtime::InvalidArgument(
        "algorithm.middle_gamma is above 0, which needs a value from least_gamma to gamma");
  }
  constexpr std::int64_t kLeastMembers = 10;
  if (middle_gamma > 0 && members < kLeastMembers) {
    return runtime::InvalidArgument(
        "algorithm.middle_gamma is above 0, which needs algorithm.members of at least " +
        std::to_string(kLeastMembers));
  }
  policy.observation_size += members;
  if (policy.has_split_values()) policy.observation_size += estimators::kSplitNumbers;
  return absl::OkStatus();
}

double AlgorithmOptions::EntropyAfter(std::int64_t updates) const {
  return Scheduled(entropy, entropy_end, updates, schedule_updates);
}

double AlgorithmOptions::ImportanceExponentAfter(std::int64_t updates) const {
  return Scheduled(importance_exponent, importance_exponent_end, updates, schedule_updates);
}

absl::StatusOr<training::OptimiserOptions> AlgorithmOptions::optimiser_options() const {
  using Kind = training::OptimiserOptions::Kind;
  const absl::StatusOr<Kind> kind = training::ParseOptimiser(optimiser);
  if (!kind.ok()) return runtime::Annotate(kind.status(), "algorithm.optimiser");
  const bool adds_up = *kind == Kind::kSgd || *kind == Kind::kRmsProp;
  const training::OptimiserOptions options{.kind = *kind,
                                           .beta1 = adds_up ? momentum : 0.9,
                                           .beta2 = square_decay,
                                           .epsilon = adam_epsilon,
                                           .weight_decay = weight_decay};
  SHOAL_RETURN_IF_ERROR(runtime::Annotate(options.Validate(), "algorithm.optimiser"));
  return options;
}

}  // namespace shoal::algorithms
