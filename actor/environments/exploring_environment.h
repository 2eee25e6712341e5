// SPDX-License-Identifier: Apache-2.0
// An environment whose episodes are played by a family of policies, and whose rewards say what is
// new as well: the actor's part of Never Give Up (Badia et al. 2020).
//
// Around an environment of vectors it does three things. Each episode of training is played by one
// of the N policies of the family (rl/estimators/exploration_family.h), which is drawn, or chosen
// by the meta-controller of Agent57 (meta_controller.h); evaluations play policy 0, which only
// exploits. The observation ends with N numbers more, of which that of the policy is 1. And a
// step's reward is r + beta_i r_intrinsic, where r_intrinsic is how new the observation that it led
// to is in the episode, times how new it is in the life of this environment
// (rl/estimators/novelty.h). Where rewards are split, it is r alone, and the observation begins
// with two numbers that tell the rest (rl/estimators/exploration_family.h). So the family is known
// to the network as it is to the learner, which takes the discount gamma_i and intrinsic rewards by
// those numbers (rl/algorithms/targets.h, rl/algorithms/split_value_gradient.h), and no message
// differs. An episode's facts, success among them, are those of the task.
//
// It differs from the paper in that each environment has networks of its own for what is new and
// for embeddings (inverse_dynamics.h), whose life is that of the actor's process, and that the
// network of the policies does not see the rewards of the step before. Embeddings may also be the
// observations or random projections of these.
//
// In an evaluation nothing is rewarded but the task, and nothing is learned of what is new.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "actor/environments/environment.h"
#include "actor/environments/environment_source.h"
#include "actor/environments/exploration_options.h"
#include "actor/environments/inverse_dynamics.h"
#include "actor/environments/meta_controller.h"
#include "actor/environments/network_distillation.h"
#include "actor/environments/novelty_memory.h"
#include "platform/runtime/status.h"
#include "rl/estimators/exploration_family.h"
#include "rl/estimators/running_moments.h"

namespace shoal::actor {

class ExploringEnvironment final : public Environment {
 public:
  // Makes random embeddings of observations, [embedding, size]; empty for other embeddings. It is
  // the same for all environments of a source.
  using SharedProjection = std::shared_ptr<const std::vector<float>>;

  // Draws the projection by `seed`. Its entries have variance 1 / embedding.
  static SharedProjection Projection(const EnvironmentSpec& task, const ExplorationOptions& options,
                                     std::uint64_t seed);

  // `spec` is that of `task`. Policies of episodes are a function of `seed`, environment and
  // episode, with a meta-controller also of the returns of earlier ones.
  // REQUIRES: SpecOf accepts the spec and the options, for which `projection` was drawn.
  ExploringEnvironment(std::unique_ptr<Environment> task, const EnvironmentSpec& spec,
                       const ExplorationOptions& options, std::uint64_t seed,
                       SharedProjection projection);

  // Returns the spec of the environment around one of `task`. INVALID_ARGUMENT, which names the
  // knob, where observations are not one vector of floats, or no family, or where embeddings are
  // learned and actions are not discrete.
  static absl::StatusOr<EnvironmentSpec> SpecOf(const EnvironmentSpec& task,
                                                const ExplorationOptions& options);

  void Reset(const EpisodeStart& start, Done done) override;
  void Step(std::int64_t action, Done done) override;
  void StepBox(std::span<const float> action, Done done) override;
  EpisodeFacts facts() const override { return task_->facts(); }

  // The policy that plays the running episode, 0 to N - 1.
  std::size_t member() const { return member_; }

 private:
  // Returns the policy that plays an episode.
  std::size_t Choose(const EpisodeStart& start) const;
  // Returns what gives `done` a transition as the family sees it.
  Done Exploring(Done done);
  // Returns the transition as the family sees it.
  Transition Explored(Transition transition);
  // Returns the observation of the task as the family sees it. `intrinsic` is the intrinsic reward
  // of the step that led to it, times greatest_beta.
  std::vector<float> Observed(std::span<const float> observation, double intrinsic) const;
  // Returns how new the observation is, and learns it.
  double Novelty(std::span<const float> observation);
  // Returns the embedding of an observation, which is valid until the next call.
  std::span<const float> Embedding(std::span<const float> observation);
  // Trains learned embeddings on the step that led to the observation.
  void LearnDynamics(std::span<const float> observation);

  const std::unique_ptr<Environment> task_;
  const std::size_t size_;
  const bool split_rewards_;
  const double greatest_beta_;
  const double life_long_limit_;
  const std::uint64_t seed_;
  // Betas are shares of greatest_beta.
  const std::vector<estimators::ExplorationPolicy> family_;
  const SharedProjection projection_;
  std::vector<float> projected_;
  // Nothing unless embeddings are learned.
  std::optional<InverseDynamics> dynamics_;
  // What the last step led from, empty before it, and its action.
  std::vector<float> before_;
  std::size_t action_ = 0;
  NoveltyMemory memory_;
  NetworkDistillation distillation_;
  estimators::RunningMoments errors_{1};
  std::optional<MetaController> controller_;
  std::size_t member_ = 0;
  // What the task has rewarded in the running episode.
  double return_ = 0;
  bool evaluation_ = false;
};

// Returns a source of exploring environments around those of `task`. INVALID_ARGUMENT as in SpecOf.
absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeExploringSource(
    std::unique_ptr<EnvironmentSource> task, const ExplorationOptions& options, std::uint64_t seed);

}  // namespace shoal::actor
