// SPDX-License-Identifier: Apache-2.0
// A GPT-2 with rows for more tokens: what is added to a vocabulary after a model was trained.
//
// A new row is the mean of the old ones plus a little noise: the model gives a new token about the
// probability of an average one, and its other outputs hardly change (Hewitt, "Initializing New
// Word Embeddings for Pretrained Language Models", 2021).
#pragma once

#include <cstdint>

#include "platform/runtime/status.h"
#include "text/language/gpt2_folder.h"

namespace shoal::language {

// Noise: a normal of a tenth of each column's deviation, a function of (seed, row, column): a
// larger `vocabulary_size` begins with the rows of a smaller one. All else is copied; the tied
// output grows with the embedding. INVALID_ARGUMENT when the new size is smaller or out of range.
absl::StatusOr<Gpt2Parameters> ResizeVocabulary(const Gpt2Parameters& parameters,
                                                std::int64_t vocabulary_size, std::uint64_t seed);

}  // namespace shoal::language
