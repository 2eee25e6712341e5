// SPDX-License-Identifier: Apache-2.0
// Trains a GPT-2, or an adapter on top of one, on batches of weighted tokens.
//
//   SHOAL_ASSIGN_OR_RETURN(auto trainer, LanguageTrainer::Create(start, options, reducer));
//   SHOAL_ASSIGN_OR_RETURN(StepReport report, trainer->Step(batch, rate));
//
// Every rank makes the same calls in the same order, each with its own part of the global batch.
// The loss is the mean cross-entropy over the weighted target tokens of all ranks. Sums and weights
// are added up before the division, so the number of ranks and the slicing of a batch change a step
// only by rounding. Parameters have the same bits on all ranks. With tensor parallelism a rank has
// a part of the model, and ranks of one data rank (rank_place.h) are given the same part of a
// batch. The same start, batches, ranks and threads (rl/model/policy.h, SetTorchThreads) give the
// same bits. Not thread-safe.
//
// AdamW and Lion amplify rounding, since their first steps are as long for a gradient of 1e-9 as
// for one of 1. Where a gradient is little more than a rounding error, parameters drift apart.
// Losses do not show it (1e-7), but gradient norms do (1e-6 to 1e-4 after some steps), both between
// one rank and two and between two slice sizes. With SGD they stay equal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/training/checkpoint.h"
#include "rl/training/optimiser_options.h"
#include "rl/training/receivers.h"
#include "rl/training/zero_stage.h"
#include "text/language/gpt2_folder.h"
#include "text/language/lora.h"
#include "text/language/weighted_batch.h"

namespace shoal::language {

struct TrainerOptions {
  // The device, as in Gpt2Options::device.
  std::string device = "cpu";
  // kFloat32, or kBFloat16 for the matrices of blocks and attention. Parameters, their gradients
  // and sums stay float32.
  runtime::DType precision = runtime::DType::kFloat32;
  // Keep only each block's input for the backward pass (checkpointing.h). ZeRO's stage 3 does so in
  // any case, for all slices of a batch at once (batch_pass.h).
  bool checkpoint_blocks = false;
  // The number of tokens that run forward and backward at once. A rank's part of a
  // batch is cut between sequences, and the gradients add up. On a CPU, each of torch's threads
  // runs its own slices with its own gradients, for up to 64 M trained parameters; beyond that,
  // slices run one after another. 0: 2,048 on a CPU, whose cache a slice shall not leave; 16,384 on
  // a GPU, which slices of less than that leave idle.
  std::int64_t slice_tokens = 0;
  // The gradient is scaled down to this norm when above it; 0 means never.
  double max_gradient_norm = 1;
  // Weight decay applies to matrices, but not to biases and norms.
  training::OptimiserOptions optimiser = {.beta2 = 0.95, .weight_decay = 0.1};
  // What the ranks divide among them, the same on all of them. It changes no bit of a step. With an
  // adapter, stage 3 is refused.
  training::ZeroStage zero_stage = training::ZeroStage::kNone;
  // Whether the sum of a unit's gradients over the ranks begins as soon as the backward pass has
  // completed them. It changes no bit. Stage 3 of ZeRO, an adapter and tensor parallelism do
  // without.
  bool overlap_sums = true;
  // Whether gradients travel between ranks in bfloat16, with what rounding takes added to the next
  // ones (rl/collectives/rounded_sum.h). What that is takes as much memory of the host as the
  // gradients, so the stages of ZeRO that divide gradients are refused.
  bool compress_gradients = false;
  // How many ranks that follow one another divide the blocks' matrices among them
  // (tensor_shards.h); 1 divides none. It changes a step by rounding alone. The stages of ZeRO then
  // divide what is left among the ranks with the same part of the model.
  std::int64_t tensor_parallel = 1;
  // If set, trains only a new adapter, which is random by `seed`.
  std::optional<LoraOptions> adapter = std::nullopt;
  std::uint64_t seed = 0;

  // Returns slice_tokens, or what its 0 means.
  std::int64_t SliceTokens(bool on_cpu) const;
  absl::Status Validate() const;
  // Returns the errors of Validate, and INVALID_ARGUMENT where tensor_parallel does not divide the
  // heads of the model, or so many ranks.
  absl::Status ValidateFor(const Gpt2Config& config, std::int64_t ranks) const;
};

// Means over the targets of all ranks, unless said otherwise.
struct LossReport {
  double loss = 0;
  // exp(loss).
  double perplexity = 1;
  // The share of the targets that were the most probable token.
  double accuracy = 0;
  // The sum of the weights. Where it is 0, loss and accuracy are 0, too.
  double targets = 0;
};

struct StepReport {
  // The loss before the step.
  LossReport loss = {};
  // The norm before clipping.
  double gradient_norm = 0;
  // The number of this step, counted over restarts.
  std::int64_t step = 0;
  // The time within sums of this rank in which its backward pass ran, too.
  double overlapped_seconds = 0;
};

class LanguageTrainer {
 public:
  // `reducer` must outlive the trainer. Returns INVALID_ARGUMENT for bad options,
  // FAILED_PRECONDITION for a device that does not exist, and with tensor parallelism the errors of
  // GradientReducer::Split.
  static absl::StatusOr<std::unique_ptr<LanguageTrainer>> Create(
      Gpt2Parameters start, const TrainerOptions& options, collectives::GradientReducer& reducer);
  ~LanguageTrainer();

  // Makes one step on the global batch; a rank's part may be empty. Where no rank has a target, the
  // step is counted and changes nothing. Returns INVALID_ARGUMENT for a batch that does not fit the
  // config, before any collective call; the reducer's errors; INTERNAL with torch's message; or
  // INTERNAL when the gradient is not finite, with the parameters unchanged.
  absl::StatusOr<StepReport> Step(const WeightedBatch& batch, double learning_rate);
  // Returns the loss on the parts of all ranks. The errors are those of Step.
  absl::StatusOr<LossReport> Evaluate(const WeightedBatch& batch);

  const Gpt2Config& config() const;
  std::int64_t steps() const;
  // What this rank holds now of the parameters that are trained, of the optimiser's moments, of
  // gradients, without rounded copies, and of what rounding took of compressed ones.
  std::int64_t parameter_bytes() const;
  std::int64_t moment_bytes() const;
  std::int64_t gradient_bytes() const;
  std::int64_t residual_bytes() const;
  // Returns the current model; an adapter is merged into it. Every rank calls it with the same
  // `receivers`, and the others may get an empty array. Returns the reducer's errors.
  absl::StatusOr<Gpt2Parameters> Parameters(
      training::Receivers receivers = training::Receivers::kAll);
  // Returns nullopt without an adapter.
  absl::StatusOr<std::optional<LoraParameters>> Adapter();

  // Adds files with the trained parameters, the optimiser and the counters to `checkpoint`. A
  // trainer of the same start and options that restores them continues with the same bits on as
  // many ranks; the number of ranks, tensor parallelism and the ZeRO stage may change. Every rank
  // calls it, and rank 0 alone gets files. What rounding took of compressed gradients is dropped
  // by all, as it is not in the files. Returns the reducer's errors.
  absl::Status Save(training::Checkpoint& checkpoint);
  // Returns FAILED_PRECONDITION when the checkpoint is of another model or optimiser, DATA_LOSS
  // when it is malformed. After an error the trainer is unchanged.
  absl::Status Restore(const training::Checkpoint& checkpoint);

  // Tells the ranks that this one meets for tensor parallelism that it has failed alone, and why.
  // Whoever aborts the reducer calls this first.
  void Abort(const absl::Status& reason);

 private:
  struct State;
  explicit LanguageTrainer(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace shoal::language
