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

// What changes while a trainer trains.
struct TrainerSnapshot {
  std::int64_t steps = 0;
  at::Tensor parameters;
  training::FlatOptimiser::Moments moments;
};

// The tensors may be on any device.
void SaveTrainer(const TrainerIdentity& identity, const TrainerSnapshot& snapshot,
                 training::Checkpoint& checkpoint);

// Returns a snapshot of `size` parameters, on the CPU. DATA_LOSS when a file is missing or damaged;
// FAILED_PRECONDITION when the checkpoint is of another identity or of other sizes.
absl::StatusOr<TrainerSnapshot> ReadTrainer(const training::Checkpoint& checkpoint,
                                            const TrainerIdentity& identity, std::int64_t size);

}  // namespace shoal::language
