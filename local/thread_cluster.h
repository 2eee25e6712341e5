// SPDX-License-Identifier: Apache-2.0
// A whole cluster as threads of one process: replay shards, inference servers, the learner and
// actors, each the same object that the program of its name runs.
//
// The parts are reached from outside at the addresses of section [cluster], and reach each other
// there, except for the replay shards, which need no sockets for inference and the learner. So
// an evaluation, `shoal doctor` and `shoal replay` find what they find in a cluster of programs.
// What a process has once is shared: signals and exit codes belong to the program (main.cc), all
// parts write one log, gRPC's threads serve all, and torch has one number of threads for the
// learner and inference together. Each part has metrics and an address for them of its own.
//
// A part that fails ends the process, since the parts of a process cannot be started again one by
// one. Whoever started it starts it again, and the learner resumes from its checkpoint.
//
// The methods are thread-safe. Start and Stop are called once, in this order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actor/actor.h"
#include "inference/service/inference_server.h"
#include "learner/learner.h"
#include "local/learner_thread.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "platform/transport/connector.h"
#include "replay/replay_server.h"

namespace shoal::local {

// The sections that the four programs read, each once.
struct ClusterSetup {
  actor::ActorOptions actor;
  actor::EnvironmentOptions environment;
  inference::InferenceOptions inference;
  replay::Options replay;
  learner::LearnerOptions learner;
  model::PolicySpec policy;
  algorithms::AlgorithmOptions algorithm;
  runtime::RunOptions run;
  runtime::ClusterOptions cluster;
  // "host:port" at which each part serves metrics: replay shards, inference servers, the learner,
  // actors. Empty for no metrics at all.
  std::vector<std::string> metrics = {};
};

struct ClusterEvents {
  // A part has failed, and the process should end. Called from any thread, perhaps more than once.
  std::function<void(const absl::Status&)> on_failure;
  // The learner has done learner.updates; the argument is the digest of its parameters. Called from
  // its thread.
  std::function<void(const std::string& digest)> on_finished;
};

class ThreadCluster {
 public:
  ThreadCluster(const ClusterSetup& setup, ClusterEvents events);
  // REQUIRES: Stop has returned true, or Start was never called.
  ~ThreadCluster();
  ThreadCluster(const ThreadCluster&) = delete;
  ThreadCluster& operator=(const ThreadCluster&) = delete;

  // Creates and starts all parts, those that serve others first. The learner starts on its own
  // thread, beside the others. INVALID_ARGUMENT, NOT_FOUND and FAILED_PRECONDITION name the knob,
  // file or address, also for several ranks of the learner, which need processes of their own.
  absl::Status Start() ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the actors for good; the other parts go on.
  void StopActors() ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends training for good after the update in progress, with a checkpoint. The other parts go on.
  void StopLearner() ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends everything in the order of docs/shutdown.md: actors, learner, inference, replay. Returns
  // false when the learner is still starting. Nothing can interrupt it there and it has nothing to
  // save, so the process should then end at once.
  bool Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // The members are in order of creation; each may refer to those above it.
  struct Inference {
    runtime::Metrics metrics;
    std::unique_ptr<inference::InferenceServer> server;
  };

  absl::Status Check() const;
  absl::Status StartReplay() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sets how the others reach the shards: those of this process without sockets.
  void ConnectReplay(const std::vector<std::string>& addresses)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartLearner() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status StartInference() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status StartActors() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the address for metrics of the part with this number in the order of setup.metrics.
  std::string MetricsAddress(std::size_t part) const;

  const ClusterSetup setup_;
  const ClusterEvents events_;
  const std::size_t shards_;
  const std::size_t servers_;
  runtime::Mutex mutex_;
  std::vector<std::unique_ptr<replay::ReplayServer>> replay_ ABSL_GUARDED_BY(mutex_);
  transport::Connector connect_replay_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<LearnerThread> learner_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Inference>> inference_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<actor::ActorOptions>> actor_options_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<actor::Actor>> actors_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::local
