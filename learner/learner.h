// SPDX-License-Identifier: Apache-2.0
// One rank of the learner: it samples rounds of unrolls, trains on each and publishes
// parameters.
//
// All ranks run the same loop in step: collect unrolls, agree on whether to go on, log their ids,
// update, save checkpoints. Where the disk has no room a checkpoint is not saved, and ids wait in
// memory (unrolls/unroll_ledger.h), as do the versions that a rollback condemns: training goes on
// until the last checkpoint, except in lock step. A rollback without room for another epoch stays
// in its own, but with asynchronous gradients. Rank 0 publishes and reports metrics.
// Files in the run's folder: epoch, unrolls*.log, quarantine, checkpoints/, and of rank 0
// parameters/, learner.jsonl, and fitted.json where a checkpoint of another policy was fitted.
// Ranks of several machines may have a folder of their own each: checkpoints are divided among
// these (rl/training/shared_checkpoints.h), and all know epoch and quarantine.
//
// A circuit breaker judges each update before it counts (circuit_breaker.h), on all ranks by the
// numbers of rank 0, which others also tell what evaluations returned (proto/evaluation.proto).
// What it condemns reaches neither parameters nor versions. While a symptom goes on, all ranks
// train at a lower learning rate and with a higher penalty on the KL, if there is one. A rollback
// loads the newest checkpoint from before the symptom, or where returns show it and the best are
// kept the one that evaluations returned most of. Without one from before, it is the oldest there
// is. What it condemns is written before it loads, so a learner that dies on the way goes back to
// the same one.
// Checkpoints are written only of healthy parameters. Versions that were published after that
// checkpoint are excluded from replay and from what this learner trains on (unrolls/quarantine.h),
// later checkpoints are removed, and publication goes on under the next epoch, or where the disk
// has no room for it under the next step, so that no version is published twice. Past the last
// rollback, and in place of the first one in deterministic mode, where actors wait for the next
// version of this epoch, Run returns OUT_OF_RANGE and leaves the file "diverged", and Create
// returns OUT_OF_RANGE until somebody removes it.
//
// With learner.gradients = "asynchronous" ranks are in step only until training begins. Each then
// runs a GradientWorker, and rank 0 also serves their gradients, on a thread of its own: it applies
// each as it comes, and does with it all that is done with an update. Every rank's worker has
// parameters of its own, so the two threads of rank 0 share nothing but messages, the sampler and
// the metrics, which are thread-safe.
//
// A rank is crash-only. Any error but the breaker's verdicts ends this rank, which tells the others
// first. They end at their next reduction, after at most a round's timeout and the work in between,
// with an error that names the rank. A rank that hangs is given up after
// learner.reduction_timeout_seconds. A restarted group finds the last checkpoint and the ids of all
// trained unrolls.
//
//   SHOAL_ASSIGN_OR_RETURN(auto group, collectives::JoinGroup(options.learner.group()));
//   SHOAL_ASSIGN_OR_RETURN(auto learner, Learner::Create(options, std::move(group)));
//   absl::Status end = learner->Run();     // on a thread of its own; Stop() from another
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "learner/circuit_breaker.h"
#include "learner/learner_options.h"
#include "learner/unrolls/unroll_use.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"
#include "platform/transport/connector.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/model/policy_spec.h"
#include "rl/parameters/version.h"
#include "rl/training/checkpoint.h"
#include "rl/training/shared_checkpoints.h"

namespace shoal::learner {

struct RoundOptions;

struct LearnerSetup {
  LearnerOptions learner;
  model::PolicySpec policy;
  algorithms::AlgorithmOptions algorithm;
  runtime::RunOptions run;
  runtime::ClusterOptions cluster;
  // How the replay shards are reached for unrolls.
  transport::Connector connect_replay = transport::OverSockets();
  // The epoch of a run whose folders have none; 0 for what FirstEpoch says (epoch_file.h).
  std::uint64_t first_epoch = 0;
  // The number of this process among the ranks of its machine, which share the GPUs.
  std::int64_t local_rank = 0;
  // Where a launched rank reports its exchanges (collectives::Launched), or null.
  collectives::RankProgress* progress = nullptr;
  // How often the group of ranks has failed and was started again, by cause
  // (collectives::Launched).
  std::map<std::string, std::int64_t> group_failures = {};
  // How often ranks were started again because nodes came or went, by cause
  // (collectives::Launched).
  std::map<std::string, std::int64_t> group_changes = {};
};

class Learner {
 public:
  // Resumes from the run's newest checkpoint whose version is not condemned, or else from that of
  // learner.start_from, increases the epoch, clones the demonstrations if there are any, publishes
  // (epoch, 0), and connects to the replay shards in the background. INVALID_ARGUMENT and
  // FAILED_PRECONDITION name the knob, file or address, NOT_FOUND a run to start from that has no
  // checkpoint.
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
  class Holder;
  Learner(std::unique_ptr<Parts> parts, const LearnerSetup& setup);

  absl::Status Start();
  // INVALID_ARGUMENT, which names the knob, for what asynchronous gradients exclude.
  absl::Status CheckAsynchronous() const;
  // The same for what lock step excludes where a table is sampled.
  absl::Status CheckSampledInLockStep() const;
  // Ends the common steps of all ranks, and makes the worker of this one and the hub of rank 0.
  absl::Status BeginExchange();
  RoundOptions RoundKnobs() const;
  absl::Status RunRounds();
  absl::Status RunExchange();
  // Saves and publishes what training ended with.
  absl::Status Finish();
  // OUT_OF_RANGE, on all ranks, where the folder of one says that training diverged. Where that
  // cannot be read, the reason, and UNAVAILABLE on the other ranks.
  absl::Status CheckDivergence();
  // Leaves the reason in the folder, for which no learner starts there any more.
  void NoteDivergence(const absl::Status& reason);
  // Begins the epoch after the newest that a folder knows, on all ranks. Where a folder has no room
  // for it, the group stays in its epoch and takes the next step if it may, and otherwise the error
  // is returned.
  absl::Status JoinEpoch(bool may_stay);
  absl::Status Resume();
  struct LoadedCheckpoint {
    std::int64_t number = 0;
    // As in training::SharedCheckpoint.
    std::string identity;
    // That of its parameters.
    parameters::Version version;
    double environment_steps = 0;
    // Whether it would still be there if any one folder of the ranks were lost.
    bool survives = false;
  };
  // What a checkpoint of this run has: the version of its parameters, and the number of updates and
  // clonings that made them.
  struct SavedState {
    parameters::Version version;
    std::int64_t number = 0;
  };
  // All ranks call these together. The errors are those of ReadSharedCheckpoint and
  // PolicyTrainer::Load, among them NOT_FOUND without a checkpoint.
  absl::StatusOr<std::unique_ptr<training::SharedCheckpoints>> MakeCheckpoints();
  absl::StatusOr<LoadedCheckpoint> LoadCheckpoint(const std::string& folder,
                                                  const training::CheckpointChoice& choice = {});
  // Loads the newest one of this run whose version is not condemned, and removes all others whose
  // versions are, which a rollback would have. Where all are condemned, it is the oldest.
  absl::StatusOr<LoadedCheckpoint> LoadNewest();
  // Returns the identities of this run's checkpoints whose versions any rank knows to be condemned.
  absl::StatusOr<std::set<std::string>> CondemnedCheckpoints();
  // Returns the checkpoint that a rollback goes to unless it is damaged, or where there is none the
  // newest that counts.
  absl::StatusOr<SavedState> TargetOf(const training::CheckpointChoice& choice);
  // The folder of this run's own checkpoints.
  std::string CheckpointsFolder() const;
  // Loads a checkpoint of any policy, says in log and run folder what became of its parameters, and
  // returns its note.
  absl::StatusOr<std::string> LoadFitting(const training::Checkpoint& checkpoint,
                                          const std::string& folder);
  absl::Status CloneDemonstrations();
  absl::Status MakeDemonstrationTable();
  // Returns false if all ranks must stop.
  absl::StatusOr<bool> RunRound();
  absl::Status Train();
  // Logs the uses that the next update trains on; also where it returns that their lines can wait.
  absl::Status LogUses(std::span<const UnrollUse> uses);
  // Writes which versions are condemned; also where it returns that this can wait.
  absl::Status WriteQuarantine();
  // Makes a warning of a failure to save what is tried again with each update, and says once that
  // there was room. `waits` is whether it failed before, and is set to whether it does now.
  absl::Status WaitForRoom(const absl::Status& saved, const std::string& what, bool& waits);
  // Tells replay and the demonstration table the new priorities of the unrolls of the round, if the
  // update made any.
  absl::Status UpdatePriorities();
  absl::Status AfterUpdate();
  absl::Status CompareRanks(const std::string& when);
  // Publishes the parameters as the current version, which they must be the only ones to have; also
  // where it returns that saving them can wait.
  absl::Status Publish(bool save);
  // The number of updates and clonings that made the parameters.
  std::int64_t TrainedNumber() const;
  // Begins to save what there is now, on all ranks.
  absl::Status SaveCheckpoint();
  // Returns what rank 0 knows of the return of what is saved now, the same on all ranks.
  absl::StatusOr<std::optional<training::MeanReturn>> ReturnToSave();
  // Waits until the checkpoint that is under way counts, on all ranks.
  absl::Status Settle();
  // Whether training can go on although something was not saved: the disk is full, and the next one
  // may find room.
  bool CanWait(const absl::Status& saved) const;
  // Makes of such a failure to save a checkpoint or parameters, which `what` says, a warning.
  absl::Status Tolerate(const absl::Status& saved, const std::string& what);
  // Whether the number of updates asks for a checkpoint.
  bool IsCheckpointDue() const;
  // Whether parameters are healthy, and it does so now or did since a checkpoint was last begun.
  bool IsCheckpointOwed() const;
  bool IsCheckpointTime() const;
  // Tells all ranks which versions and unrolls the folder of each knows of.
  absl::Status ShareRecords();
  // Takes the evaluations that were reported and whose versions are not condemned.
  void TakeEvaluations();
  // Asks the circuit breaker about an update, and returns an error that undoes it unless it may
  // count.
  absl::Status Judge(const UpdateVitals& vitals);
  // Says in log and metrics that the verdict on an update softens those that follow.
  void ReportSoftening() const;
  // Does what the verdict on an update that was undone asks for, `failure` being why it was.
  absl::Status Obey(const absl::Status& failure);
  absl::Status RollBack(const Verdict& verdict);
  // Condemns all versions that were published after `saved`.
  absl::Status Condemn(const SavedState& saved);
  absl::Status Forgive(const absl::Status& failure);

  const LearnerSetup setup_;
  const std::unique_ptr<Parts> parts_;
  // Relaxed, since the flag orders no other data.
  std::atomic<bool> stopped_{false};
};

}  // namespace shoal::learner
