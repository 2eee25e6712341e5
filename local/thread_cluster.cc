// SPDX-License-Identifier: Apache-2.0
#include "local/thread_cluster.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "inference/service/target_priorities.h"
#include "platform/runtime/log.h"
#include "platform/transport/address_list.h"
#include "platform/transport/channel.h"
#include "rl/model/policy.h"

namespace shoal::local {
namespace {

std::size_t Size(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

ThreadCluster::ThreadCluster(const ClusterSetup& setup, ClusterEvents events)
    : setup_(setup),
      events_(std::move(events)),
      shards_(Size(setup.cluster.replay_shards)),
      servers_(Size(setup.cluster.inference_servers)) {}

ThreadCluster::~ThreadCluster() = default;

std::string ThreadCluster::MetricsAddress(std::size_t part) const {
  return setup_.metrics.empty() ? "" : setup_.metrics[part];
}

absl::Status ThreadCluster::Check() const {
  if (setup_.cluster.learner_ranks > 1) {
    return runtime::InvalidArgument("cluster.learner_ranks: one process has one rank, not " +
                                    std::to_string(setup_.cluster.learner_ranks));
  }
  if (setup_.actor.mode != "train") {
    return runtime::InvalidArgument("actor.mode: the actors of a cluster train, \"" +
                                    setup_.actor.mode + "\" is for the program actor");
  }
  const std::size_t parts = shards_ + servers_ + 1 + Size(setup_.cluster.actors);
  if (setup_.metrics.empty() || setup_.metrics.size() == parts) return absl::OkStatus();
  return runtime::InvalidArgument("--metrics names " + std::to_string(setup_.metrics.size()) +
                                  " addresses for " + std::to_string(parts) + " parts");
}

absl::Status ThreadCluster::Start() {
  SHOAL_RETURN_IF_ERROR(Check());
  // The numbers of threads that torch is asked for are those of programs of their own.
  model::SetTorchThreads(setup_.run,
                         std::max(setup_.inference.torch_threads, setup_.learner.torch_threads));
  const runtime::MutexLock lock(mutex_);
  SHOAL_RETURN_IF_ERROR(StartReplay());
  StartLearner();
  SHOAL_RETURN_IF_ERROR(StartInference());
  return StartActors();
}

absl::Status ThreadCluster::StartReplay() {
  SHOAL_ASSIGN_OR_RETURN(const transport::AddressList list,
                         transport::AddressList::Create(
                             setup_.cluster.replay, setup_.cluster.replay_file, "replay shard"));
  for (std::size_t i = 0; i < shards_; ++i) {
    replay::ReplayConfig config{.options = setup_.replay,
                                .run = setup_.run,
                                .shards = list,
                                .index = static_cast<std::int64_t>(i),
                                .in_process = shards_};
    config.options.metrics_listen = MetricsAddress(i);
    SHOAL_ASSIGN_OR_RETURN(auto shard, replay::ReplayServer::Create(config));
    replay_.push_back(std::move(shard));
  }
  ConnectReplay(list.addresses());
  return absl::OkStatus();
}

void ThreadCluster::ConnectReplay(const std::vector<std::string>& addresses) {
  std::map<std::string, const replay::ReplayServer*> shards;
  for (std::size_t i = 0; i < std::min(replay_.size(), addresses.size()); ++i) {
    shards[addresses[i]] = replay_[i].get();
  }
  connect_replay_ = [shards](const std::string& address) {
    const auto own = shards.find(address);
    return own == shards.end() ? transport::CreateChannel(address)
                               : own->second->InProcessChannel();
  };
}

void ThreadCluster::StartLearner() {
  learner::LearnerSetup setup{.learner = setup_.learner,
                              .policy = setup_.policy,
                              .algorithm = setup_.algorithm,
                              .run = setup_.run,
                              .cluster = setup_.cluster,
                              .connect_replay = connect_replay_};
  setup.learner.metrics_listen = MetricsAddress(shards_ + servers_);
  learner_ = std::make_unique<LearnerThread>(
      setup, [this](const absl::Status& status, const std::string& digest) {
        if (!status.ok()) return events_.on_failure(status);
        if (!digest.empty()) events_.on_finished(digest);
      });
}

absl::Status ThreadCluster::StartInference() {
  for (std::size_t i = 0; i < servers_; ++i) {
    inference::InferenceConfig config{.options = setup_.inference,
                                      .policy = setup_.policy,
                                      .priority = inference::TargetPriorities(setup_.algorithm),
                                      .run = setup_.run,
                                      .cluster = setup_.cluster,
                                      .connect_replay = connect_replay_,
                                      .index = static_cast<std::int64_t>(i)};
    auto part = std::make_unique<Inference>();
    SHOAL_RETURN_IF_ERROR(part->metrics.Expose(MetricsAddress(shards_ + i)));
    SHOAL_ASSIGN_OR_RETURN(part->server,
                           inference::InferenceServer::Create(std::move(config), part->metrics));
    spdlog::info("event=listening address={}", part->server->address());
    inference_.push_back(std::move(part));
  }
  return absl::OkStatus();
}

absl::Status ThreadCluster::StartActors() {
  for (std::size_t i = 0; i < Size(setup_.cluster.actors); ++i) {
    auto options = std::make_unique<actor::ActorOptions>(setup_.actor);
    options->metrics_listen = MetricsAddress(shards_ + servers_ + 1 + i);
    SHOAL_ASSIGN_OR_RETURN(auto actor, actor::Actor::Create({.actor = *options,
                                                             .environment = setup_.environment,
                                                             .cluster = setup_.cluster,
                                                             .run = setup_.run,
                                                             .index = i}));
    actor_options_.push_back(std::move(options));
    actors_.push_back(std::move(actor));
  }
  for (auto& actor : actors_) {
    actor->Start([this](const absl::Status& end) { events_.on_failure(end); });
  }
  return absl::OkStatus();
}

void ThreadCluster::StopActors() {
  const runtime::MutexLock lock(mutex_);
  for (auto& actor : actors_) actor->Stop();
}

void ThreadCluster::StopLearner() {
  const runtime::MutexLock lock(mutex_);
  if (learner_ != nullptr) learner_->Stop();
}

bool ThreadCluster::Stop() {
  StopActors();
  const runtime::MutexLock lock(mutex_);
  if (learner_ != nullptr && !learner_->Stop()) return false;
  const std::chrono::milliseconds grace(setup_.inference.drain_ms);
  for (auto& part : inference_) {
    const absl::Status drained = part->server->Drain(grace);
    if (drained.ok()) continue;
    spdlog::warn("event=drain_incomplete reason={}", runtime::Quoted(runtime::Message(drained)));
  }
  // They make no call on a channel within the process once its server ends.
  learner_.reset();
  inference_.clear();
  for (auto& shard : replay_) shard->Drain();
  return true;
}

}  // namespace shoal::local
