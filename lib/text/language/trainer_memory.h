// SPDX-License-Identifier: Apache-2.0
// The memory that the arrays of a language trainer (language_trainer.h) take on a rank's device,
// computed from the configuration alone, so that it can be known before anything is allocated.
// Functions of their arguments alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/language/gpt2_config.h"
#include "text/language/language_trainer.h"

namespace shoal::language {

// All but the first two are bytes.
struct TrainerMemory {
  // The numbers of the model, and those that are trained.
  std::int64_t parameters = 0;
  std::int64_t trained = 0;

  // At most, while gradients are computed. Of those there is one array for each thread of a CPU
  // that has its own.
  std::int64_t parameter_bytes = 0;
  std::int64_t gradient_bytes = 0;
  // What is left of them from one step to the next.
  std::int64_t kept_parameter_bytes = 0;
  std::int64_t kept_gradient_bytes = 0;
  std::int64_t moment_bytes = 0;
  // At most, on the host: what rounding takes of compressed gradients, and what they are rounded to
  // for the way, of the largest unit.
  std::int64_t residual_bytes = 0;
  // About: what slices keep for their backward pass, and what the loss computes, at most. With it
  // device_bytes() is .85 to 1.2 times the most that torch holds at once in a step of a small model
  // on a CPU in zero_stages_test.
  std::int64_t activation_bytes = 0;

  // Without what is on the host in any case.
  std::int64_t device_bytes() const {
    return parameter_bytes + gradient_bytes + moment_bytes + activation_bytes;
  }
};

// The ranks of a group, and the threads of each.
struct TrainerPlaces {
  std::int64_t ranks = 1;
  std::int64_t threads = 1;
  // A rank's part of a batch; 0 for one slice.
  std::int64_t batch_tokens = 0;
};

// Returns the memory of rank 0, whose share is the largest. In bfloat16 parameters and gradients
// count with their rounded copies. REQUIRES: config is valid, and options.ValidateFor is OK for it
// and the ranks.
TrainerMemory EstimateTrainerMemory(const Gpt2Config& config, const TrainerOptions& options,
                                    const TrainerPlaces& places);

// The number of gradient arrays of a rank that trains so many parameters: a thread of a CPU has its
// own, up to 64 M parameters. With tensor parallelism there is one, since ranks meet in every slice
// and the threads of a rank run one slice together.
std::int64_t GradientArrays(const TrainerOptions& options, std::int64_t trained,
                            std::int64_t threads);

// Returns the sizes of the arrays that a rank trains one by one (Gpt2Units); those of an adapter
// are one array.
std::vector<std::int64_t> TrainedUnits(const Gpt2Config& config, const TrainerOptions& options);

// Returns the members as a JSON object of one line.
std::string ToJson(const TrainerMemory& memory);

}  // namespace shoal::language
