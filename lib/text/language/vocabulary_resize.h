// SPDX-License-Identifier: Apache-2.0
// Adds rows to a GPT-2 for tokens that were added to the vocabulary after training.
//
// A new row is the mean of the old rows plus a little noise. The model gives a new token about the
// probability of an average one, and its other outputs hardly change (Hewitt, "Initializing New
// Word Embeddings for Pretrained Language Models", 2021).
#pragma once

#include <cstdint>

#include "platform/runtime/status.h"
#include "text/language/gpt2_folder.h"

namespace shoal::language {

// The noise is normal with a tenth of each column's standard deviation, and a function of (seed,
// row, column), so a larger `vocabulary_size` begins with the rows of a smaller one. Everything
// else is copied; the tied output grows with the embedding. Returns INVALID_ARGUMENT when the new
// size is smaller or out of range.
absl::StatusOr<Gpt2Parameters> ResizeVocabulary(const Gpt2Parameters& parameters,
                                                std::int64_t vocabulary_size, std::uint64_t seed);

}  // namespace shoal::language
