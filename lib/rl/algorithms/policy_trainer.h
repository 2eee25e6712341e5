// SPDX-License-Identifier: Apache-2.0
// Turns batches of unrolls into better parameters, by the algorithm that the options name, and
// clones the behaviour of experts.
//
// Every rank calls Update and CloneBehaviour in the same order; gradients, statistics and the
// decision to stop early are reduced over the ranks, so parameters stay the same bits on all of
// them. Not thread-safe. Same seed, same batches, same world: same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/model/policy_spec.h"
#include "rl/model/safetensors.h"

namespace shoal::algorithms {

// Means over the rows of all ranks and all minibatches, unless said otherwise.
struct UpdateReport {
  std::int64_t update = 0;
  // Rows with weight, all ranks.
  double rows = 0;
  // The algorithm's losses, entropy bonus and coefficients included.
  double policy_loss = 0;
  double value_loss = 0;
  double entropy = 0;
  // KL of the behaviour policy and the current one, in the last epoch that ran: (r - 1) - log r
  // with the importance weight r.
  double approximate_kl = 0;
  // What the algorithm itself measures, by name.
  std::vector<std::pair<std::string, double>> algorithm_metrics = {};
  // 1 - Var(return - value) / Var(return), with the behaviour values.
  double explained_variance = 0;
  double max_absolute_value = 0;
  double mean_return = 0;
  double mean_advantage = 0;
  // Before clipping.
  double gradient_norm = 0;
  double mean_staleness = 0;
  double max_staleness = 0;
  double learning_rate = 0;
  std::int64_t update_epochs = 0;
  // Of the demonstrations that were mixed in; zeros without any.
  double cloning_loss = 0;
  double cloning_agreement = 0;
  double cloning_coefficient = 0;
  // Wall time of this rank.
  double estimate_seconds = 0;
  double gradient_seconds = 0;
  double reduce_seconds = 0;
  double step_seconds = 0;
};

// Means over the rows of all ranks, before the step.
struct CloningReport {
  // Clonings done with this one, over restarts.
  std::int64_t cloning = 0;
  double rows = 0;
  // Cross-entropy with the demonstrated actions, over the legal ones.
  double loss = 0;
  // Share of rows whose greedy action is the demonstrated one.
  double agreement = 0;
  double entropy = 0;
  double gradient_norm = 0;
};

// Demonstrations beside a batch: each gradient step takes its part of them too, and `coefficient`
// times the mean of their cross-entropy joins the mean of its own losses.
struct BehaviourCloningTerm {
  const UnrollBatch& demonstrations;
  double coefficient = 0;
};

class PolicyTrainer {
 public:
  // `reducer` outlives the trainer. Parameters start as model::InitialParameters(spec, seed).
  static absl::StatusOr<std::unique_ptr<PolicyTrainer>> Create(
      const model::PolicySpec& spec, const AlgorithmOptions& options, std::uint64_t seed,
      collectives::GradientReducer& reducer);
  ~PolicyTrainer();

  // INVALID_ARGUMENT for a batch that does not fit the spec, before any collective or change; the
  // reducer's errors; collectives::SharedFailure when the loss is not finite: parameters are then
  // those of before. Any other error happened on this rank alone.
  absl::StatusOr<UpdateReport> Update(const UnrollBatch& batch);
  // The same with demonstrations; all ranks or none.
  absl::StatusOr<UpdateReport> Update(const UnrollBatch& batch,
                                      const BehaviourCloningTerm& cloning);

  // One gradient step on the cross-entropy of all demonstrations; the critic is left as it is.
  // Errors as of Update.
  absl::StatusOr<CloningReport> CloneBehaviour(const UnrollBatch& demonstrations,
                                               double learning_rate);

  // A safetensors file that model::Policy reads. "spec_digest" is added to `metadata`.
  absl::StatusOr<std::string> SerializeParameters(const model::Metadata& metadata) const;
  // SHA-256 over the bytes of all parameters, in hexadecimal.
  std::string Digest() const;
  // Updates done, over restarts.
  std::int64_t updates() const;
  // Calls of CloneBehaviour that succeeded, over restarts.
  std::int64_t clonings() const;

  // One more checkpoint below `folder` (training/checkpoint.h): parameters, optimiser, counters and
  // `note`, which is the caller's. A trainer that loaded it goes on with the same bits.
  absl::Status Save(const std::string& folder, const std::string& note) const;
  // Reads the newest checkpoint that is whole, returns its note. NOT_FOUND when there is none,
  // FAILED_PRECONDITION when it is of another spec.
  absl::StatusOr<std::string> Load(const std::string& folder);

 private:
  struct State;
  explicit PolicyTrainer(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace shoal::algorithms
