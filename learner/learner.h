// SPDX-License-Identifier: Apache-2.0
// One rank of the learner: it samples rounds of unrolls, trains on each and publishes
// parameters.
//
// All ranks run the same loop in step: collect unrolls, agree on whether to go on, log their ids,
// update. Rank 0 then publishes, saves checkpoints and reports metrics. Files in the run's folder:
// epoch, unrolls*.log, checkpoints/, parameters/, learner.jsonl, and fitted.json where a checkpoint
// of another policy was fitted.
//
// A rank is crash-only. An update that fails in the same way on every rank (collectives::IsShared)
// is skipped. Any other error ends this rank, which tells the others first. They end at their next
// reduction, after at most a round's timeout and the work in between, with an error that names the
// rank. A rank that hangs is given up after learner.reduction_timeout_seconds. A restarted group
// finds the last checkpoint and the ids of all trained unrolls.
//
//   SHOAL_ASSIGN_OR_RETURN(auto group, collectives::JoinGroup(options.learner.group()));
//   SHOAL_ASSIGN_OR_RETURN(auto learner, Learner::Create(options, std::move(group)));
//   absl::Status end = learner->Run();     // on a thread of its own; Stop() from another
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
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
  // The number of this process among the ranks of its machine, which share the GPUs.
  std::int64_t local_rank = 0;
  // How often the group of ranks has failed and was started again, by cause
  // (collectives::Launched).
  std::map<std::string, std::int64_t> group_failures = {};
};

class Learner {
 public:
  // Resumes from the newest checkpoint, the run's own or else that of learner.start_from, increases
  // the epoch, clones the demonstrations if there are any, publishes (epoch, 0), and connects to
  // the replay shards in the background. INVALID_ARGUMENT and FAILED_PRECONDITION name the knob,
  // file or address, NOT_FOUND a run to start from that has no checkpoint.
  static absl::StatusOr<std::unique_ptr<Learner>> Create(
      const LearnerSetup& setup, std::unique_ptr<collectives::GradientReducer> group);
  ~Learner();

  // Runs until Stop or until learner.updates are done, and leaves a checkpoint. An error ends the
  // rank.
  absl::Status Run();
  // Makes Run return after the update in progress. Thread-safe.
  void Stop() { stopped_.store(true, std::memory_order_relaxed); }

  // Returns true once learner.updates are done.
  bool finished() const;
  std::int64_t rank() const;
  // Returns the digest of the parameters, in hexadecimal.
  std::string Digest() const;

 private:
  struct Parts;
  Learner(std::unique_ptr<Parts> parts, const LearnerSetup& setup);

  absl::Status Start();
  absl::Status RunRounds();
  absl::Status JoinEpoch();
  absl::Status Resume();
  // Returns the errors of PolicyTrainer::Load, among them NOT_FOUND without a checkpoint.
  absl::Status LoadCheckpoint(const std::string& run_folder);
  // Loads a checkpoint of any policy, says in log and run folder what became of its parameters, and
  // returns its note.
  absl::StatusOr<std::string> LoadFitting(const std::string& folder);
  absl::Status CloneDemonstrations();
  absl::Status MakeDemonstrationTable();
  // Returns false if all ranks must stop.
  absl::StatusOr<bool> RunRound();
  absl::Status Train();
  // Tells replay and the demonstration table the new priorities of the unrolls of the round, if the
  // update made any.
  absl::Status UpdatePriorities();
  absl::Status AfterUpdate();
  absl::Status CompareRanks(const std::string& when);
  absl::Status Publish(bool save);
  absl::Status SaveCheckpoint();
  absl::Status Forgive(const absl::Status& failure);

  const LearnerSetup setup_;
  const std::unique_ptr<Parts> parts_;
  // Relaxed, since the flag orders no other data.
  std::atomic<bool> stopped_{false};
};

}  // namespace shoal::learner
