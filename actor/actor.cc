// SPDX-License-Identifier: Apache-2.0
#include "actor/actor.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "platform/runtime/clock.h"
#include "platform/runtime/log.h"
#include "platform/runtime/random.h"
#include "redfish/capture/capture_roles.h"

namespace shoal::actor {
namespace {

std::vector<std::string> ChooseCaptures(const ActorConfig& config) {
  const EnvironmentOptions& environment = config.environment;
  if (!config.actor.evaluates()) return environment.training_captures();
  if (!config.actor.evaluate_captures.empty()) return config.actor.evaluate_captures;
  return redfish::JudgedCaptures(environment.captures, environment.hold_out);
}

// What may change a real host does so in one environment at a time, and not at random.
absl::Status CheckHost(const ActorConfig& config) {
  const EnvironmentOptions& environment = config.environment;
  if (environment.access != "host" || environment.host.methods.empty()) return absl::OkStatus();
  if (config.actor.environments > 1 || config.cluster.actors > 1) {
    return runtime::InvalidArgument(
        "environment.host.methods lets one environment change the host: set actor.environments "
        "and cluster.actors to 1");
  }
  const auto& policies = config.actor.evaluate_policies;
  if (config.actor.evaluates() &&
      std::find(policies.begin(), policies.end(), "uniform") != policies.end()) {
    return runtime::InvalidArgument(
        "the policy uniform acts at random, so it does not act on a host that may be changed: set "
        "train.baselines");
  }
  return absl::OkStatus();
}

bool UsesHindsight(const ActorConfig& config) {
  return !config.actor.evaluates() && config.actor.hindsight.enabled();
}

absl::Status CheckHindsight(const ActorConfig& config, const EnvironmentSpec& spec) {
  if (!UsesHindsight(config)) return absl::OkStatus();
  if (!spec.tells_goals) {
    return runtime::InvalidArgument("actor.hindsight.strategy is " +
                                    config.actor.hindsight.strategy + ", but " +
                                    config.environment.kind + " has no goals to set in hindsight");
  }
  if (config.actor.group_size > 1) {
    return runtime::InvalidArgument(
        "actor.group_size is above 1, and episodes that hindsight tells again share no start with "
        "a group: set actor.hindsight.strategy to none");
  }
  return absl::OkStatus();
}

}  // namespace

std::uint64_t ActorConfig::episode_seed() const {
  const auto seed = static_cast<std::uint64_t>(run.seed);
  if (!actor.evaluates()) return runtime::DeriveSeed(seed, "train");
  return runtime::DeriveSeed(
      runtime::DeriveSeed(seed, "evaluate") + static_cast<std::uint64_t>(actor.evaluate_seed),
      "evaluation");
}

absl::Status Actor::Check(const ActorConfig& config) {
  const runtime::ClusterOptions& cluster = config.cluster;
  if (cluster.inference.empty() && cluster.inference_file.empty()) {
    return runtime::InvalidArgument(
        "neither cluster.inference nor cluster.inference_file names a server");
  }
  if (config.run.deterministic &&
      (cluster.inference.size() > 1 || !cluster.inference_file.empty())) {
    return runtime::InvalidArgument("run.deterministic needs one inference server");
  }
  if (config.actor.rows_per_message_min > config.actor.rows_per_message_max) {
    return runtime::InvalidArgument("actor.rows_per_message_min is above rows_per_message_max");
  }
  const bool has_faults = config.environment.faults.any() && config.environment.access != "host";
  if (config.actor.curriculum.stages > 0 && !has_faults) {
    return runtime::InvalidArgument(
        "actor.curriculum.stages is above 0, but environment.faults.rate, "
        "environment.faults.latency_ms and environment.faults.tasks are 0, so there is nothing to "
        "widen");
  }
  return CheckHost(config);
}

absl::StatusOr<std::unique_ptr<Actor>> Actor::Create(const ActorConfig& config) {
  SHOAL_RETURN_IF_ERROR(Check(config));
  SHOAL_ASSIGN_OR_RETURN(auto source, MakeSource({.environment = config.environment,
                                                  .cluster = config.cluster,
                                                  .seed = config.episode_seed(),
                                                  .captures = ChooseCaptures(config),
                                                  .hindsight = UsesHindsight(config)}));
  return Create(config, std::move(source));
}

absl::StatusOr<std::unique_ptr<Actor>> Actor::Create(const ActorConfig& config,
                                                     std::unique_ptr<EnvironmentSource> source) {
  SHOAL_RETURN_IF_ERROR(Check(config));
  SHOAL_RETURN_IF_ERROR(CheckHindsight(config, source->spec()));
  std::unique_ptr<Actor> actor(new Actor(config, std::move(source)));
  SHOAL_RETURN_IF_ERROR(actor->MakePlan());
  SHOAL_RETURN_IF_ERROR(actor->MakeLoops());
  SHOAL_RETURN_IF_ERROR(actor->metrics_.Expose(config.actor.metrics_listen));
  if (!config.actor.health_listen.empty()) {
    SHOAL_ASSIGN_OR_RETURN(actor->health_,
                           transport::Server::Create({.listen = config.actor.health_listen}, {}));
    spdlog::info("event=listening what=health address={}", actor->health_->address());
  }
  return actor;
}

Actor::Actor(const ActorConfig& config, std::unique_ptr<EnvironmentSource> source)
    : config_(config), source_(std::move(source)), actor_metrics_(metrics_) {}

Actor::~Actor() { Stop(); }

absl::Status Actor::MakePlan() {
  const ActorOptions& options = config_.actor;
  const auto environments = static_cast<std::size_t>(options.environments);
  if (!options.evaluates()) {
    std::optional<StartSampler> sampler;
    if (options.learned_weight < 1.0) {
      sampler.emplace(source_->pairs(), options.learned_weight,
                      runtime::DeriveSeed(config_.episode_seed(), "pairs"));
    }
    plan_ = std::make_unique<TrainingPlan>(
        TrainingPlan::Work{
            .first_environment = config_.index * environments,
            .environments = environments,
            .pairs = source_->pairs(),
            .sampler = std::move(sampler),
            .group_size = static_cast<std::uint64_t>(options.group_size),
            .curriculum = options.curriculum,
            .on_stage = [this](std::int64_t stage) { actor_metrics_.SetCurriculumStage(stage); }},
        [this](const absl::Status& end) { on_end_(end); });
    return absl::OkStatus();
  }
  EvaluationPlan::Work work{.policies = {},
                            .pairs = source_->pairs(),
                            .episodes = static_cast<std::uint64_t>(options.evaluate_episodes),
                            .counted = static_cast<std::uint64_t>(options.evaluate_counted),
                            .limit = std::chrono::duration_cast<runtime::Duration>(
                                std::chrono::duration<double>(options.evaluate_seconds))};
  for (const std::string& text : options.evaluate_policies) {
    SHOAL_ASSIGN_OR_RETURN(EvaluationPlan::Policy policy, ParsePolicy(text));
    work.policies.push_back(std::move(policy));
  }
  if (work.policies.empty()) {
    return runtime::InvalidArgument("actor.evaluate_policies names no policy");
  }
  SHOAL_ASSIGN_OR_RETURN(log_, EvaluationLog::Create(options.evaluate_output));
  log_->WritePlan(work);
  plan_ = std::make_unique<EvaluationPlan>(
      std::move(work),
      EvaluationPlan::Observer{
          .on_result = [this](const EpisodeAssignment& assignment,
                              const EpisodeResult& result) { log_->Write(assignment, result); },
          .on_given_up = [this](const Pair& pair,
                                const std::string& reason) { log_->WriteGivenUp(pair, reason); },
          .on_end =
              [this](const absl::Status& end) {
                const absl::Status closed = log_->Close();
                on_end_(end.ok() ? closed : end);
              }});
  return absl::OkStatus();
}

absl::Status Actor::MakeLoops() {
  SHOAL_ASSIGN_OR_RETURN(
      const auto servers,
      transport::AddressList::Create(config_.cluster.inference, config_.cluster.inference_file,
                                     "inference server"));
  const ActorOptions& options = config_.actor;
  const auto environments = static_cast<std::size_t>(options.environments);
  const std::size_t threads = std::min(environments, static_cast<std::size_t>(options.threads));
  const std::uint64_t first = options.evaluates() ? kEvaluationEnvironments | config_.index << 32
                                                  : config_.index * environments;
  const std::uint64_t incarnation = runtime::SystemClock().UnixNanos();
  for (std::size_t thread = 0; thread < threads; ++thread) {
    const std::size_t begin = environments * thread / threads;
    const std::size_t end = environments * (thread + 1) / threads;
    LoopOptions loop;
    loop.first_environment = first + begin;
    loop.environments = end - begin;
    loop.incarnation = incarnation;
    loop.policy_id = static_cast<std::uint32_t>(options.policy_id);
    loop.evaluate = options.evaluates();
    loop.inference = servers;
    loop.client_name = "actor index=" + std::to_string(config_.index) +
                       " thread=" + std::to_string(thread) + " pid=" + std::to_string(getpid());
    loop.block_size = static_cast<std::uint64_t>(options.block_size);
    loop.rows_per_message_min = static_cast<std::size_t>(options.rows_per_message_min);
    loop.rows_per_message_max = static_cast<std::size_t>(options.rows_per_message_max);
    loop.max_wait = std::chrono::microseconds(options.max_wait_us);
    if (UsesHindsight(config_)) loop.hindsight = options.hindsight;
    loop.hindsight_seed = runtime::DeriveSeed(config_.episode_seed(), "hindsight");
    loop.reset_attempts = static_cast<int>(config_.environment.reset_attempts);
    loops_.push_back(
        std::make_unique<EnvironmentLoop>(std::move(loop), *source_, *plan_, actor_metrics_));
  }
  return absl::OkStatus();
}

void Actor::Start(OnEnd on_end) {
  on_end_ = std::move(on_end);
  for (auto& loop : loops_) {
    loop->Start([this](const absl::Status& status) { on_end_(status); });
  }
  if (health_ != nullptr) health_->SetServing(true);
  spdlog::info("event=started mode={} environments={} pairs={}", config_.actor.mode,
               config_.actor.environments, source_->pairs().size());
}

void Actor::Stop() {
  if (health_ != nullptr) health_->SetServing(false);
  for (auto& loop : loops_) loop->Stop();
  if (health_ != nullptr) health_->Shutdown(std::chrono::milliseconds(100));
  health_.reset();
}

}  // namespace shoal::actor
