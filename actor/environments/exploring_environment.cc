// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/exploring_environment.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "platform/runtime/random.h"
#include "rl/estimators/novelty.h"

namespace shoal::actor {
namespace {

class ExploringSource final : public EnvironmentSource {
 public:
  ExploringSource(std::unique_ptr<EnvironmentSource> task, EnvironmentSpec spec,
                  const ExplorationOptions& options, std::uint64_t seed)
      : task_(std::move(task)),
        spec_(std::move(spec)),
        options_(options),
        seed_(seed),
        projection_(ExploringEnvironment::Projection(task_->spec(), options, seed)) {}

  const EnvironmentSpec& spec() const override { return spec_; }
  const std::vector<Pair>& pairs() const override { return task_->pairs(); }
  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor executor,
                                                   std::uint64_t first_environment,
                                                   std::size_t count) const override {
    auto environments = task_->Create(std::move(executor), first_environment, count);
    for (std::unique_ptr<Environment>& environment : environments) {
      environment = std::make_unique<ExploringEnvironment>(std::move(environment), task_->spec(),
                                                           options_, seed_, projection_);
    }
    return environments;
  }

 private:
  const std::unique_ptr<EnvironmentSource> task_;
  const EnvironmentSpec spec_;
  const ExplorationOptions options_;
  const std::uint64_t seed_;
  const ExploringEnvironment::SharedProjection projection_;
};

}  // namespace

ExploringEnvironment::ExploringEnvironment(std::unique_ptr<Environment> task,
                                           const EnvironmentSpec& spec,
                                           const ExplorationOptions& options, std::uint64_t seed,
                                           SharedProjection projection)
    : task_(std::move(task)),
      size_(static_cast<std::size_t>(spec.observation_size())),
      split_rewards_(options.split_rewards),
      greatest_beta_(options.greatest_beta),
      life_long_limit_(options.life_long_limit),
      seed_(seed),
      family_(
          estimators::NguFamily(static_cast<std::size_t>(options.members), {.greatest_beta = 1})),
      projection_(std::move(projection)),
      memory_({.size = options.embedding == "observation"
                           ? size_
                           : static_cast<std::size_t>(options.embedding_size),
               .neighbours = static_cast<std::size_t>(options.neighbours),
               .capacity = static_cast<std::size_t>(options.memory)}),
      distillation_({.size = size_,
                     .rate = options.life_long_rate,
                     .seed = runtime::DeriveSeed(seed, "distillation")}) {
  if (options.embedding == "learned") {
    dynamics_.emplace(
        InverseDynamics::Options{.size = size_,
                                 .actions = static_cast<std::size_t>(spec.actions),
                                 .embedding = static_cast<std::size_t>(options.embedding_size),
                                 .rate = options.embedding_rate,
                                 .minibatch = static_cast<std::size_t>(options.embedding_minibatch),
                                 .memory = static_cast<std::size_t>(options.embedding_memory),
                                 .seed = runtime::DeriveSeed(seed, "inverse dynamics")});
  }
  if (options.bandit_window == 0) return;
  controller_.emplace(
      MetaController::Options{.policies = family_.size(),
                              .window = static_cast<std::size_t>(options.bandit_window),
                              .width = options.bandit_width,
                              .epsilon = options.bandit_epsilon,
                              .seed = runtime::DeriveSeed(seed, "meta-controller")});
}

ExploringEnvironment::SharedProjection ExploringEnvironment::Projection(
    const EnvironmentSpec& task, const ExplorationOptions& options, std::uint64_t seed) {
  if (options.embedding != "random") return std::make_shared<const std::vector<float>>();
  runtime::Random random(runtime::DeriveSeed(seed, "projection"));
  std::vector<float> matrix(
      static_cast<std::size_t>(options.embedding_size * task.observation_size()));
  // Distances are kept on average.
  const double deviation = 1 / std::sqrt(static_cast<double>(options.embedding_size));
  for (float& entry : matrix) entry = static_cast<float>(deviation * random.Normal());
  return std::make_shared<const std::vector<float>>(std::move(matrix));
}

absl::StatusOr<EnvironmentSpec> ExploringEnvironment::SpecOf(const EnvironmentSpec& task,
                                                             const ExplorationOptions& options) {
  if (options.members < 1) {
    return runtime::InvalidArgument("environment.exploration.members: no policy");
  }
  if (options.bandit_window > 0 && options.bandit_window < options.members) {
    return runtime::InvalidArgument(
        "environment.exploration.bandit_window: " + std::to_string(options.bandit_window) +
        " episodes do not hold one of each of the " + std::to_string(options.members) +
        " policies");
  }
  if (!task.content_fields.empty() || task.observation_shape.size() != 1 ||
      task.observation_shape[0] < 1 || task.observation_dtype != runtime::DType::kFloat32) {
    return runtime::InvalidArgument(
        "environment.exploration.members is above 0, which needs observations that are one vector "
        "of floats and nothing else");
  }
  if (options.embedding != "observation" && options.embedding_size < 1) {
    return runtime::InvalidArgument("environment.exploration.embedding is " + options.embedding +
                                    ", which needs an embedding_size of at least 1");
  }
  if (options.embedding == "learned" && task.actions < 1) {
    return runtime::InvalidArgument(
        "environment.exploration.embedding is learned, which needs discrete actions");
  }
  EnvironmentSpec spec = task;
  spec.observation_shape = {task.observation_size() + options.members +
                            (options.split_rewards ? estimators::kSplitNumbers : 0)};
  spec.tells_goals = false;
  return spec;
}

void ExploringEnvironment::Reset(const EpisodeStart& start, Done done) {
  evaluation_ = start.evaluation || (start.environment_id & kEvaluationEnvironments) != 0;
  member_ = Choose(start);
  return_ = 0;
  memory_.BeginEpisode();
  before_.clear();
  if (dynamics_) dynamics_->BeginEpisode();
  task_->Reset(start, Exploring(std::move(done)));
}

std::size_t ExploringEnvironment::Choose(const EpisodeStart& start) const {
  if (evaluation_) return 0;
  if (controller_) return controller_->Choose(start.environment_id, start.episode);
  const double draw = runtime::UniformAt(seed_, start.environment_id, start.episode, 0);
  return static_cast<std::size_t>(draw * static_cast<double>(family_.size()));
}

void ExploringEnvironment::Step(std::int64_t action, Done done) {
  action_ = static_cast<std::size_t>(action);
  task_->Step(action, Exploring(std::move(done)));
}

void ExploringEnvironment::StepBox(std::span<const float> action, Done done) {
  task_->StepBox(action, Exploring(std::move(done)));
}

Environment::Done ExploringEnvironment::Exploring(Done done) {
  return [this, done = std::move(done)](absl::StatusOr<Transition> transition) {
    if (transition.ok()) transition = Explored(*std::move(transition));
    done(std::move(transition));
  };
}

Transition ExploringEnvironment::Explored(Transition transition) {
  return_ += static_cast<double>(transition.reward);
  if (transition.end != End::kNone && !evaluation_ && controller_) {
    controller_->Learn(member_, return_);
  }
  std::vector<float>& numeric = transition.observation.numeric;
  if (numeric.size() != size_) return transition;
  const bool rewards_novelty = !evaluation_ && family_.size() > 1;
  const double intrinsic = rewards_novelty ? greatest_beta_ * Novelty(numeric) : 0;
  if (!split_rewards_) transition.reward += static_cast<float>(family_[member_].beta * intrinsic);
  numeric = Observed(numeric, intrinsic);
  return transition;
}

std::vector<float> ExploringEnvironment::Observed(std::span<const float> observation,
                                                  double intrinsic) const {
  std::vector<float> observed;
  if (split_rewards_) {
    observed.resize(estimators::kSplitNumbers);
    observed[estimators::kFactorPlace] = static_cast<float>(family_[member_].beta);
    observed[estimators::kIntrinsicRewardPlace] = static_cast<float>(intrinsic);
  }
  observed.insert(observed.end(), observation.begin(), observation.end());
  observed.resize(observed.size() + family_.size());
  observed[observed.size() - family_.size() + member_] = 1.0F;
  return observed;
}

double ExploringEnvironment::Novelty(std::span<const float> observation) {
  if (dynamics_) LearnDynamics(observation);
  const double episodic = memory_.Add(Embedding(observation));
  if (life_long_limit_ <= 1) return episodic;
  const auto error = static_cast<float>(distillation_.Observe(observation));
  const double novelty =
      estimators::IntrinsicReward(episodic, static_cast<double>(error), errors_.mean(0),
                                  std::sqrt(errors_.variance(0)), life_long_limit_);
  errors_.Add({&error, 1});
  return novelty;
}

std::span<const float> ExploringEnvironment::Embedding(std::span<const float> observation) {
  if (dynamics_) return dynamics_->Embed(observation);
  if (projection_->empty()) return observation;
  projected_.assign(projection_->size() / size_, 0.0F);
  for (std::size_t i = 0; i < projected_.size(); ++i) {
    const float* const row = projection_->data() + i * size_;
    for (std::size_t j = 0; j < size_; ++j) projected_[i] += row[j] * observation[j];
  }
  return projected_;
}

void ExploringEnvironment::LearnDynamics(std::span<const float> observation) {
  if (!before_.empty()) dynamics_->Learn(before_, action_, observation);
  before_.assign(observation.begin(), observation.end());
}

absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeExploringSource(
    std::unique_ptr<EnvironmentSource> task, const ExplorationOptions& options,
    std::uint64_t seed) {
  SHOAL_ASSIGN_OR_RETURN(EnvironmentSpec spec, ExploringEnvironment::SpecOf(task->spec(), options));
  return std::make_unique<ExploringSource>(std::move(task), std::move(spec), options, seed);
}

}  // namespace shoal::actor
