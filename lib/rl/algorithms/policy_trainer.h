// SPDX-License-Identifier: Apache-2.0
// Trains a policy on batches of unrolls with the algorithm that the options name, and on
// demonstrations by behaviour cloning.
//
// Every rank calls Update and CloneBehaviour in the same order. Gradients, statistics and the
// decision to stop early are reduced over the ranks, so parameters keep the same bits on all of
// them. Not thread-safe. The same seed, batches and world size give the same bits.
//
// Where gradients are asynchronous, each rank has a trainer in a group of one (SingleRank), which
// computes gradients of parameters that it adopts. One more trainer applies them, in the order in
// which they come.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/large_memory.h"
#include "platform/runtime/status.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/requirements.h"
#include "rl/algorithms/trainer_checkpoint.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/model/compute_device.h"
#include "rl/model/policy_spec.h"
#include "rl/model/safetensors.h"
#include "rl/training/checkpoint.h"

namespace shoal::algorithms {

// The upper bounds of the buckets in which rows are counted by their staleness, in publications.
inline constexpr std::array<double, 8> kStalenessBounds = {0, 1, 2, 4, 8, 16, 32, 64};

// Means over the rows of all ranks and all minibatches, unless said otherwise.
struct UpdateReport {
  std::int64_t update = 0;
  // The number of rows with weight on all ranks.
  double rows = 0;
  // The algorithm's losses, including entropy bonus and coefficients.
  double policy_loss = 0;
  double value_loss = 0;
  double entropy = 0;
  // The KL of behaviour policy and current policy in the last epoch that ran: (r - 1) - log r with
  // the importance weight r.
  double approximate_kl = 0;
  // (sum w)^2 / (n sum w^2) of the importance weights w of n rows, in the last epoch that ran: 1
  // where all weigh the same, 1/n where one outweighs all others (Kong 1992, "A note on importance
  // sampling using standardized weights"). The weights are current over behaviour policy, and with
  // action values or twin critics those that correct for the probability of being drawn. 0 without
  // rows.
  double effective_sample_size = 0;
  // The mean absolute difference between the log-probabilities of the behaviour policy and of this
  // trainer before its first step, over the rows of the first minibatch whose behaviour policy had
  // the same parameters, and the number of these rows. Rounding apart it is 0, however stale other
  // rows are, unless inference and learner compute different things. Without rows where it is not
  // known which these are: with a recurrent core, with asynchronous gradients, with action values.
  double log_probability_drift = 0;
  double current_rows = 0;
  // The algorithm's own metrics, by name.
  std::vector<std::pair<std::string, double>> algorithm_metrics = {};
  // 1 - Var(return - value) / Var(return), with the behaviour values.
  double explained_variance = 0;
  double max_absolute_value = 0;
  double mean_return = 0;
  double mean_advantage = 0;
  // The norm before clipping.
  double gradient_norm = 0;
  double mean_staleness = 0;
  double max_staleness = 0;
  // The number of rows by staleness: the i-th are above the bound before the i-th of
  // kStalenessBounds and not above that one, the last are above all.
  std::array<double, kStalenessBounds.size() + 1> staleness_rows{};
  double learning_rate = 0;
  // What entropy and, with PPO, the penalty on the KL weighed.
  double entropy_coefficient = 0;
  double kl_coefficient = 0;
  // By which rewards were divided; 0 unless returns are normalised.
  double return_deviation = 0;
  std::int64_t update_epochs = 0;
  // With action values or twin critics, the new priorities in replay of this rank's unrolls, [B];
  // otherwise empty.
  std::vector<float> priorities = {};
  // The metrics of the demonstrations that were mixed in; zeros without any.
  double cloning_loss = 0;
  double cloning_agreement = 0;
  double cloning_coefficient = 0;
  // The wall time of this rank. Waiting for other ranks counts as reduction.
  double estimate_seconds = 0;
  double gradient_seconds = 0;
  double reduce_seconds = 0;
  double step_seconds = 0;
};

// Means over the rows of all ranks, before the gradient step.
struct CloningReport {
  // The number of this call of CloneBehaviour, counted over restarts.
  std::int64_t cloning = 0;
  double rows = 0;
  // The cross-entropy with the demonstrated actions, over the legal actions.
  double loss = 0;
  // The share of rows whose greedy action is the demonstrated one.
  double agreement = 0;
  double entropy = 0;
  double gradient_norm = 0;
};

// Demonstrations that an update mixes in. Each gradient step takes its part of them too, and adds
// `coefficient` times the mean of their cross-entropy to the mean of its own losses.
struct BehaviourCloningTerm {
  const UnrollBatch& demonstrations;
  double coefficient = 0;
};

// What one rank found in its batch.
struct RankGradient {
  // Of the mean loss over the rows, before clipping, [the trainable floats]; empty without rows.
  std::vector<float> values = {};
  // Without the numbers of a step: the gradient's norm, learning rate and number of the update.
  UpdateReport report = {};
};

class PolicyTrainer {
 public:
  // Parameters start as model::InitialParameters(spec, seed). `reducer` must outlive the trainer.
  // Updates compute on `device`, by FindComputeDevice; on a GPU they agree with the CPU's up to
  // rounding. Its precision is that of the layers; parameters, gradients, losses and the optimiser
  // are float32. Several ranks reduce in the host's memory. Returns INVALID_ARGUMENT, which names
  // the knob, for a wrong spec or option, and where the algorithm and policy.action_values or
  // policy.twin_critics do not go together; FAILED_PRECONDITION for a device that does not exist.
  static absl::StatusOr<std::unique_ptr<PolicyTrainer>> Create(
      const model::PolicySpec& spec, const AlgorithmOptions& options, std::uint64_t seed,
      collectives::GradientReducer& reducer, const model::ComputeDevice& device = {});
  ~PolicyTrainer();

  // What the algorithm needs.
  const Requirements& requirements() const;

  // Judges an update from its report. An error of it undoes the update.
  using Judge = std::function<absl::Status(const UpdateReport&)>;
  // Has `judge` called at the end of every Update, before the update counts. It must give the same
  // verdict on every rank, and may make collective calls.
  void SetJudge(Judge judge);
  // Compresses the gradients that ranks sum from now on, those of unrolls and of demonstrations
  // (gradient_sum.h), on all ranks or on none. Every rank keeps what rounding took of its gradients
  // until a later one, an error of Update, or Load. It is not part of checkpoints.
  void CompressGradients();
  // Multiplies the learning rate of the updates that follow, whatever the schedule says. It is not
  // part of checkpoints.
  void ScaleRate(double factor);
  // The same for the coefficient of PPO's penalty on the KL.
  void ScaleKlPenalty(double factor);

  // Trains on a batch. Returns INVALID_ARGUMENT for a batch that does not fit the spec, before any
  // collective call or change; the reducer's errors; collectives::SharedFailure when loss, gradient
  // or parameters are not finite; and the judge's error. After the last two everything is as it was
  // before. Any other error happened on this rank alone. The batch is taken over, because options
  // may change its rewards; callers should move it.
  absl::StatusOr<UpdateReport> Update(UnrollBatch batch);
  // The same with demonstrations. Either all ranks pass demonstrations or none does.
  absl::StatusOr<UpdateReport> Update(UnrollBatch batch, const BehaviourCloningTerm& cloning);

  // Returns INVALID_ARGUMENT, which names the knob, where gradients of this algorithm cannot be
  // computed by one trainer and applied by another: several steps in an update, and moments that
  // all ranks would have in common.
  absl::Status CheckAsynchronous() const;
  // Computes the gradient of a batch at the parameters of this trainer, which stay as they are.
  // INVALID_ARGUMENT for a batch that does not fit the spec. REQUIRES: CheckAsynchronous is OK.
  absl::StatusOr<RankGradient> ComputeGradient(UnrollBatch batch);
  // Makes an update of a gradient that another trainer of the same spec and options has computed;
  // for target networks, schedules and checkpoints it is an update like any other. Returns the
  // whole report. The errors are those of Update, among them SharedFailure where numbers are not
  // finite, and the judge's. INVALID_ARGUMENT for a gradient of another size. It makes no
  // collective calls of its own.
  absl::StatusOr<UpdateReport> ApplyGradient(const RankGradient& gradient);
  // The floats of a gradient, and of all parameters.
  std::int64_t gradient_size() const;
  std::int64_t parameter_count() const;
  // Returns all parameters, or those of the target network, which may be none.
  std::vector<float> Parameters() const;
  std::vector<float> TargetParameters() const;
  // Another number after each update that changes the target network, as updates are counted.
  std::int64_t target_number() const;
  // Goes on from the parameters of another trainer after so many updates. An empty `target` keeps
  // the target network. INVALID_ARGUMENT for sizes that do not fit.
  absl::Status Adopt(std::int64_t updates, std::span<const float> parameters,
                     std::span<const float> target);

  // Makes one gradient step on the cross-entropy of all demonstrations; the critic is not trained.
  // The errors are those of Update. INVALID_ARGUMENT with policy.twin_critics, as for Update with
  // demonstrations.
  absl::StatusOr<CloningReport> CloneBehaviour(UnrollBatch demonstrations, double learning_rate);

  // Returns a safetensors file that model::Policy reads. "spec_digest" is added to `metadata`.
  absl::StatusOr<std::string> SerializeParameters(const model::Metadata& metadata) const;
  // Returns the SHA-256 over the bytes of all parameters, in hexadecimal.
  std::string Digest() const;
  // The number of updates, counted over restarts.
  std::int64_t updates() const;
  // The number of successful calls of CloneBehaviour, counted over restarts.
  std::int64_t clonings() const;

  // Writes one more checkpoint below `folder` (training/checkpoint.h): parameters, optimiser,
  // counters, and `note`, which belongs to the caller. A trainer that loads it continues with the
  // same bits, but for what rounding took of compressed gradients.
  absl::Status Save(const std::string& folder, const std::string& note) const;
  // Reads the newest checkpoint that is whole and returns its note. NOT_FOUND when there is none,
  // FAILED_PRECONDITION when it is of another optimiser or spec; then the message names the
  // parameters that differ with both shapes.
  absl::StatusOr<std::string> Load(const std::string& folder);
  // The same for a checkpoint of any spec that says which it is: what fits is kept (FitToNetwork in
  // trainer_checkpoint.h), and counters go on. A target network that the checkpoint lacks begins as
  // the trained one.
  absl::StatusOr<FittedCheckpoint> LoadFitting(const std::string& folder);
  // The same where the caller keeps checkpoints, as in folders of several machines
  // (training/shared_checkpoints.h). FilesOf makes the files of a snapshot, whose numbers are in
  // `memory`: a pool that has given them before needs none that is new.
  TrainerCheckpoint Snapshot(const std::string& note, runtime::LargeMemoryPool& memory) const;
  absl::StatusOr<std::string> Load(const training::Checkpoint& files);
  absl::StatusOr<FittedCheckpoint> LoadFitting(const training::Checkpoint& files);

 private:
  struct State;
  explicit PolicyTrainer(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace shoal::algorithms
