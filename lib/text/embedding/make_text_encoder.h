// SPDX-License-Identifier: Apache-2.0
// The encoder that a run's knobs ask for.
//
// Lexical vectors cost less than keeping them, so they are made anew each time. A language model's
// go through a ChunkedEncoder, and through a StoredEncoder below it where there is a file.
#pragma once

#include <memory>

#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "text/embedding/encoder_source.h"
#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

// `metrics` may be null, and outlives the encoder. Errors begin with the knob: INVALID_ARGUMENT for
// a value that is no encoder; NOT_FOUND for a preset whose weights are not there, or a folder that
// is none, saying what would work; else those of tokens::LexicalEncoder::Create,
// Gpt2Encoder::Create and EmbeddingFile::Open.
absl::StatusOr<std::unique_ptr<tokens::TextEncoder>> MakeTextEncoder(
    const EncoderSource& source, const EmbeddingCacheOptions& caches, runtime::Metrics* metrics);

}  // namespace shoal::embedding
