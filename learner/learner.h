// SPDX-License-Identifier: Apache-2.0
// One rank of the learner: samples rounds of unrolls, trains on each once, publishes parameters.
//
// Every rank runs the same loop in step: collect, agree on whether to go on, log ids, update; rank
// 0 then publishes, keeps checkpoints and says how it went. Files below the run's folder: epoch,
// unrolls*.log, checkpoints/, parameters/, learner.jsonl.
//
// A rank is crash-only. An update that fails on every rank alike (collectives::IsShared) is
// skipped; any other error ends this rank, which tells the others before it goes. They end with an
// error that names it at their next reduction: after a round's timeout and the work in between, and
// a rank that hangs is given up after learner.reduction_timeout_seconds. Whoever restarts the group
// finds the last checkpoint and the ids of all that was trained.
//
//   SHOAL_ASSIGN_OR_RETURN(auto group, collectives::JoinGroup(options.learner.group()));
//   SHOAL_ASSIGN_OR_RETURN(auto learner, Learner::Create(options, std::move(group)));
//   absl::Status end = learner->Run();     // on a thread of its own; Stop() from another
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "learner/learner_options.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/model/policy_spec.h"

namespace shoal::learner {

struct LearnerSetup {
  LearnerOptions learner;
  model::PolicySpec policy;
  algorithms::AlgorithmOptions algorithm;
  runtime::RunOptions run;
  runtime::ClusterOptions cluster;
};

class Learner {
 public:
  // Resumes from the newest checkpoint, bumps the epoch, clones the demonstrations if there are
  // any, publishes (epoch, 0), and connects to the replay shards in the background.
  // INVALID_ARGUMENT and FAILED_PRECONDITION name the knob, file or address.
  static absl::StatusOr<std::unique_ptr<Learner>> Create(
      const LearnerSetup& setup, std::unique_ptr<collectives::GradientReducer> group);
  ~Learner();

  // Until Stop, or until learner.updates are done; leaves a checkpoint. An error ends the rank.
  absl::Status Run();
  // Thread-safe; Run returns after the update in progress.
  void Stop() { stopped_.store(true, std::memory_order_relaxed); }

  // True once Run returned because learner.updates were done.
  bool finished() const;
  std::int64_t rank() const;
  // Of the parameters, in hexadecimal.
  std::string Digest() const;

 private:
  struct Parts;
  Learner(std::unique_ptr<Parts> parts, const LearnerSetup& setup);

  absl::Status Start();
  absl::Status RunRounds();
  absl::Status JoinEpoch();
  absl::Status Resume();
  absl::Status CloneDemonstrations();
  // False: all ranks stop.
  absl::StatusOr<bool> RunRound();
  absl::Status Train();
  absl::Status AfterUpdate();
  absl::Status CompareRanks(const std::string& when);
  absl::Status Publish(bool save);
  absl::Status SaveCheckpoint();
  absl::Status Forgive(const absl::Status& failure);

  const LearnerSetup setup_;
  const std::unique_ptr<Parts> parts_;
  // Relaxed: a flag that says nothing about other data.
  std::atomic<bool> stopped_{false};
};

}  // namespace shoal::learner
