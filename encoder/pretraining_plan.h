// SPDX-License-Identifier: Apache-2.0
// The options of a run, resolved: choices of tokens, a schedule, a model, a trainer.
#pragma once

#include "encoder/pretraining.h"
#include "encoder/token_choice.h"
#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "rl/training/schedule.h"
#include "text/language/gpt2_folder.h"
#include "text/language/language_trainer.h"

namespace shoal::encoder {

// The options that are texts, parsed.
struct PretrainingPlan {
  Curriculum loss;
  TokenChoice attention;
  TokenChoice evaluation;
  training::RateSchedule rate;
  runtime::DType weights = runtime::DType::kFloat32;

  // Returns INVALID_ARGUMENT naming the flag, or the part of its text, that makes no sense.
  static absl::StatusOr<PretrainingPlan> Of(const PretrainingOptions& options);
};

// Returns the config of the model to train, with embedding rows for `vocabulary_size` tokens.
// Errors are those of StartOf, but for the length of texts.
absl::StatusOr<language::Gpt2Config> ConfigOf(const PretrainingOptions& options,
                                              std::int64_t vocabulary_size);

// Returns the model to train, with embedding rows for the whole vocabulary. Errors are
// INVALID_ARGUMENT when the texts are longer than it takes, NOT_FOUND for an unknown preset, and
// those of language::ReadGpt2Folder.
absl::StatusOr<language::Gpt2Parameters> StartOf(const PretrainingOptions& options,
                                                 const TrainingMaterial& material);

// Returns INVALID_ARGUMENT for an unknown optimiser, and the errors of model::FindComputeDevice.
absl::StatusOr<language::TrainerOptions> TrainerOptionsOf(const PretrainingOptions& options);

}  // namespace shoal::encoder
