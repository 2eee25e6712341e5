// SPDX-License-Identifier: Apache-2.0
// The actor process: it plays environments on a few event loops by one episode plan, serves metrics
// and health, and writes the log of an evaluation.
//
//   SHOAL_ASSIGN_OR_RETURN(auto actor, Actor::Create(config));
//   actor->Start([&](const absl::Status& end) { ... });
//   ... stop ...
//   actor->Stop();
//
// Create, Start and Stop must be called from one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actor/actor_options.h"
#include "actor/environments/environment_options.h"
#include "actor/environments/environment_source.h"
#include "actor/loop/actor_metrics.h"
#include "actor/loop/environment_loop.h"
#include "actor/loop/episode_plan.h"
#include "actor/loop/evaluation_log.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "platform/transport/server.h"

namespace shoal::actor {

struct ActorConfig {
  const ActorOptions& actor;
  const EnvironmentOptions& environment;
  const runtime::ClusterOptions& cluster;
  const runtime::RunOptions& run;
  // Number of this process among the actors of the cluster, from 0.
  std::uint64_t index = 0;

  // Returns the seed of the episodes: that of training, or that of the evaluation.
  std::uint64_t episode_seed() const;
};

class Actor {
 public:
  // Called from any thread, perhaps more than once. The status is OK when an evaluation is
  // complete, otherwise it says why going on is pointless.
  using OnEnd = std::function<void(const absl::Status&)>;

  // Returns INVALID_ARGUMENT or NOT_FOUND naming what is wrong with the configuration or the data,
  // and FAILED_PRECONDITION naming an address that cannot be bound.
  static absl::StatusOr<std::unique_ptr<Actor>> Create(const ActorConfig& config);
  // The same with environments of the caller's own.
  static absl::StatusOr<std::unique_ptr<Actor>> Create(const ActorConfig& config,
                                                       std::unique_ptr<EnvironmentSource> source);
  ~Actor();

  // Returns INVALID_ARGUMENT for knobs that contradict one another, whatever plays the environment.
  static absl::Status Check(const ActorConfig& config);

  void Start(OnEnd on_end);
  // Reports the process as not serving, drops the episodes under way and joins the loops, then
  // shuts the health server down.
  void Stop();

 private:
  Actor(const ActorConfig& config, std::unique_ptr<EnvironmentSource> source);

  absl::Status MakePlan();
  absl::Status MakeLoops();

  const ActorConfig config_;
  const std::unique_ptr<EnvironmentSource> source_;
  runtime::Metrics metrics_;
  ActorMetrics actor_metrics_;
  std::unique_ptr<transport::Server> health_;
  std::unique_ptr<EvaluationLog> log_;
  OnEnd on_end_;
  std::unique_ptr<EpisodePlan> plan_;
  std::vector<std::unique_ptr<EnvironmentLoop>> loops_;
};

}  // namespace shoal::actor
