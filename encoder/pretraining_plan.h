// SPDX-License-Identifier: Apache-2.0
// The options of a run as what they name: choices of tokens, a schedule, a model, a trainer.
#pragma once

#include "encoder/pretraining.h"
#include "encoder/token_choice.h"
#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "rl/training/schedule.h"
#include "text/language/gpt2_folder.h"
#include "text/language/language_trainer.h"

namespace shoal::encoder {

// The texts of options that are read once.
struct PretrainingPlan {
  Curriculum loss;
  TokenChoice attention;
  TokenChoice evaluation;
  training::RateSchedule rate;
  runtime::DType weights = runtime::DType::kFloat32;

  // INVALID_ARGUMENT naming the flag or the part of its text that makes no sense.
  static absl::StatusOr<PretrainingPlan> Of(const PretrainingOptions& options);
};

// The model that is trained, with rows for all of the vocabulary. INVALID_ARGUMENT when its texts
// are longer than it takes; NOT_FOUND for an unknown preset; errors of language::ReadGpt2Folder.
absl::StatusOr<language::Gpt2Parameters> StartOf(const PretrainingOptions& options,
                                                 const TrainingMaterial& material);

// INVALID_ARGUMENT for an unknown optimiser.
absl::StatusOr<language::TrainerOptions> TrainerOptionsOf(const PretrainingOptions& options);

}  // namespace shoal::encoder
