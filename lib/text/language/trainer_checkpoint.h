// SPDX-License-Identifier: Apache-2.0
// What a trainer of one flat array keeps in a checkpoint: parameters and the optimiser's moments in
// trainer.safetensors, and counters in trainer.json.
//
// This header shows torch. Functions of their arguments alone.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "platform/runtime/status.h"
#include "rl/training/checkpoint.h"
#include "rl/training/flat_optimiser.h"

namespace shoal::language {

// What a checkpoint must have been made with to be restored.
struct TrainerIdentity {
  // The model's config as JSON.
  std::string config = {};
  training::OptimiserOptions::Kind optimiser = training::OptimiserOptions::Kind::kAdamW;
};

void SaveTrainer(const TrainerIdentity& identity, std::int64_t steps, const at::Tensor& parameters,
                 const training::FlatOptimiser& optimiser, training::Checkpoint& checkpoint);

// Copies a checkpoint into `parameters` and `optimiser` and returns its steps, or changes nothing.
// DATA_LOSS when a file is missing or damaged; FAILED_PRECONDITION when the checkpoint is of
// another identity or of other sizes.
absl::StatusOr<std::int64_t> RestoreTrainer(const training::Checkpoint& checkpoint,
                                            const TrainerIdentity& identity, at::Tensor& parameters,
                                            training::FlatOptimiser& optimiser);

}  // namespace shoal::language
