// SPDX-License-Identifier: Apache-2.0
// Trains a GPT-2, or an adapter on top of one, on batches of weighted tokens.
//
//   SHOAL_ASSIGN_OR_RETURN(auto trainer, LanguageTrainer::Create(start, options, reducer));
//   SHOAL_ASSIGN_OR_RETURN(StepReport report, trainer->Step(batch, rate));
//
// Every rank makes the same calls in the same order, each with its own part of the global batch.
// The loss is the mean cross-entropy over the weighted target tokens of all ranks: sums and weights
// are added up before anything is divided, so neither the number of ranks nor how a batch is cut
// changes a step, but for rounding. Parameters stay the same bits on all ranks. Same start,
// batches, ranks and threads (model/policy.h, SetTorchThreads): same bits. Not thread-safe.
//
// AdamW and Lion enlarge rounding: their first steps are as long for a gradient of 1e-9 as for one
// of 1, so where it is little more than the order of a sum, parameters move apart. Losses do not
// show it (1e-7), gradient norms do (1e-6 to 1e-4 after some steps), between one rank and two as
// between two sizes of slices; with SGD both stay equal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/training/checkpoint.h"
#include "rl/training/flat_optimiser.h"
#include "text/language/gpt2_folder.h"
#include "text/language/lora.h"
#include "text/language/weighted_batch.h"

namespace shoal::language {

struct TrainerOptions {
  // As Gpt2Options::device.
  std::string device = "cpu";
  // kFloat32, or kBFloat16: matrices of blocks and attention; parameters, their gradients and sums
  // stay float32.
  runtime::DType precision = runtime::DType::kFloat32;
  // Keeps each block's input alone for backward (checkpointing.h).
  bool checkpoint_blocks = false;
  // Tokens that run forward and backward at once; what a rank has of a batch is cut between
  // sequences and gradients add up. On a CPU each of torch's threads has its own slices, and for
  // models below 64 M parameters its own gradients. At least 1.
  std::int64_t slice_tokens = 2048;
  // The gradient is scaled down to this norm when above it; 0: never.
  double max_gradient_norm = 1;
  // Matrices decay, biases and norms do not.
  training::OptimiserOptions optimiser = {.beta2 = 0.95, .weight_decay = 0.1};
  // Trains only a new adapter, random by `seed`.
  std::optional<LoraOptions> adapter = std::nullopt;
  std::uint64_t seed = 0;

  absl::Status Validate() const;
};

// Sums over the targets of all ranks.
struct LossReport {
  double loss = 0;
  // exp(loss).
  double perplexity = 1;
  // Part of the targets that were the most probable token.
  double accuracy = 0;
  // Sum of the weights; where it is 0, so are the others.
  double targets = 0;
};

struct StepReport {
  // Before the step.
  LossReport loss;
  // Before clipping.
  double gradient_norm = 0;
  // Steps done with this one, over restarts.
  std::int64_t step = 0;
};

class LanguageTrainer {
 public:
  // `reducer` outlives the trainer. INVALID_ARGUMENT for options, FAILED_PRECONDITION for a device
  // that is not there.
  static absl::StatusOr<std::unique_ptr<LanguageTrainer>> Create(
      Gpt2Parameters start, const TrainerOptions& options, collectives::GradientReducer& reducer);
  ~LanguageTrainer();

  // One step on the global batch; a rank's part may be empty. Where no rank has a target the step
  // is counted and changes nothing. INVALID_ARGUMENT for a batch that does not fit the config,
  // before any collective; the reducer's errors; INTERNAL with torch's words, or when the gradient
  // is not finite: parameters are then those of before.
  absl::StatusOr<StepReport> Step(const WeightedBatch& batch, double learning_rate);
  // The loss on the parts of all ranks. Errors as of Step.
  absl::StatusOr<LossReport> Evaluate(const WeightedBatch& batch);

  const Gpt2Config& config() const;
  std::int64_t steps() const;
  // The model as it is now, an adapter merged into it.
  Gpt2Parameters Parameters() const;
  // Nothing without an adapter.
  std::optional<LoraParameters> Adapter() const;

  // Adds files with the trained parameters, the optimiser and the counters to `checkpoint`; a
  // trainer of the same start and options that restored them goes on with the same bits.
  void Save(training::Checkpoint& checkpoint) const;
  // FAILED_PRECONDITION when it is of another model or optimiser, DATA_LOSS when it makes no sense.
  // After an error the trainer is as before.
  absl::Status Restore(const training::Checkpoint& checkpoint);

 private:
  struct State;
  explicit LanguageTrainer(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace shoal::language
