// SPDX-License-Identifier: Apache-2.0
// Trains a state encoder on the hidden states of a frozen language model.
//
//   SHOAL_ASSIGN_OR_RETURN(auto trainer, StateTrainer::Create(config, options));
//   SHOAL_RETURN_IF_ERROR(trainer->Measure(texts));
//   SHOAL_ASSIGN_OR_RETURN(StateReport report, trainer->Step(batch, rate));
//
// The loss is the sum of two terms.
//
// - Reconstruction: the decoder gives back B means of the standardised hidden states from a text's
//   latent; the mean squared error. The variance of the states is 1, that of their means less.
// - Contrast: a body's vector is the mean of its segments' latents, and the first view of a state
// is
//   nearer to the second view of the same state than to the second views of all other states of the
//   batch, and the other way round (the loss InfoNCE of van den Oord et
//   al., "Representation Learning with Contrastive Predictive Coding", 2018, with the two views of
//   Chen et al., "A Simple Framework for Contrastive Learning of Visual Representations", 2020).
//
// Not thread-safe. The same seed, batches and threads of torch give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/training/checkpoint.h"
#include "rl/training/flat_optimiser.h"
#include "text/language/hidden_texts.h"
#include "text/language/state_folder.h"

namespace shoal::language {

struct StateTrainerOptions {
  std::uint64_t seed = 1;
  // The factors of the two terms.
  double reconstruction_weight = 1;
  double contrast_weight = 1;
  // The temperature of the contrast.
  double temperature = 0.1;
  // The gradient is scaled down to this norm when above it; 0 means never.
  double max_gradient_norm = 1;
  training::OptimiserOptions optimiser = {.weight_decay = 0.01};

  absl::Status Validate() const;
};

// Views of bodies, each a weighted set of segments.
struct StateBatch {
  struct Use {
    std::int64_t segment = 0;
    float weight = 1;
  };
  // The hidden states of the distinct segments.
  HiddenTexts segments;
  // The segments of the views, one view after the other; view v ends before ends[v].
  std::vector<Use> uses;
  std::vector<std::size_t> ends;
  // Which other view is of the same state. The earlier of two partners is the first view.
  std::vector<std::int64_t> partners;

  // Returns INVALID_ARGUMENT naming what does not fit: a view without segments, a segment without
  // states, a number out of range, fewer than three views.
  absl::Status Validate(std::int64_t width) const;
};

struct StateReport {
  double loss = 0;
  double reconstruction = 0;
  double contrast = 0;
  // The share of the views whose partner is the nearest of those that they are compared with.
  double accuracy = 0;
  // The norm before clipping; 0 for an evaluation.
  double gradient_norm = 0;
  // The number of this step, counted over restarts.
  std::int64_t step = 0;
};

class StateTrainer {
 public:
  // Parameters are random by the seed. Returns INVALID_ARGUMENT for bad options.
  static absl::StatusOr<std::unique_ptr<StateTrainer>> Create(const StateConfig& config,
                                                              const StateTrainerOptions& options);
  ~StateTrainer();

  // Measures the mean and deviation that standardise hidden states from now on. Returns
  // INVALID_ARGUMENT for states that do not fit or are none.
  absl::Status Measure(const HiddenTexts& texts);

  // Returns INVALID_ARGUMENT for a batch that does not fit, INTERNAL with torch's message or when
  // the gradient is not finite, with the parameters unchanged.
  absl::StatusOr<StateReport> Step(const StateBatch& batch, double learning_rate);
  absl::StatusOr<StateReport> Evaluate(const StateBatch& batch) const;

  std::int64_t steps() const;
  // Returns the pooling without the decoder.
  StateParameters Parameters() const;

  // Adds files with parameters, the optimiser and the counters to `checkpoint`. A trainer of the
  // same config and options that restores them continues with the same bits.
  void Save(training::Checkpoint& checkpoint) const;
  // Returns FAILED_PRECONDITION when the checkpoint is of another config, DATA_LOSS when it is
  // malformed. After an error the trainer is unchanged.
  absl::Status Restore(const training::Checkpoint& checkpoint);

 private:
  struct State;
  explicit StateTrainer(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace shoal::language
