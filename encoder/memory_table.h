// SPDX-License-Identifier: Apache-2.0
// What a rank of `encoder train` takes of memory in each way to divide a model among ranks, and
// which of them fit. Functions of their arguments alone.
#pragma once

#include <cstdint>
#include <string>

#include "text/language/gpt2_config.h"
#include "text/language/trainer_memory.h"

namespace shoal::encoder {

struct MemoryTable {
  // A line for each stage of ZeRO, with checkpointed blocks and without, that the options allow;
  // then whether what `options` say fits, what takes the most there and what makes that smaller,
  // and the first line that fits.
  std::string text;
  // Whether what `options` say fits.
  bool fits = false;
};

// `bytes` is the memory that each rank has for itself. REQUIRES: options.ValidateFor is OK for the
// config and the ranks.
MemoryTable TabulateMemory(const language::Gpt2Config& config,
                           const language::TrainerOptions& options,
                           const language::TrainerPlaces& places, std::int64_t bytes);

}  // namespace shoal::encoder
