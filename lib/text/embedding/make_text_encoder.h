// SPDX-License-Identifier: Apache-2.0
// Makes the encoder that a run's knobs select.
//
// Lexical vectors are recomputed each time, since that costs less than caching them. A language
// model is wrapped in a ChunkedEncoder, and in a StoredEncoder below it if there is a file. GPT-2
// gets segments of texts, a sentence encoder phrases. A tuned encoder is an adapter (adapter.h) on
// top of the encoder that the adapter names, with the lexical table of the adapter's folder.
#pragma once

#include <memory>

#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "text/embedding/encoder_source.h"
#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

// `metrics` may be null; otherwise it must outlive the encoder. Errors begin with the knob:
// INVALID_ARGUMENT for a value that is not an encoder, NOT_FOUND for a preset without weights or a
// missing folder (the message lists alternatives), else those of tokens::LexicalEncoder::Create,
// Gpt2Encoder::Create, SentenceEncoder::Create, ReadAdapter, TunedEncoder::Create and
// EmbeddingFile::Open.
absl::StatusOr<std::unique_ptr<tokens::TextEncoder>> MakeTextEncoder(
    const EncoderSource& source, const EmbeddingCacheOptions& caches, runtime::Metrics* metrics);

}  // namespace shoal::embedding
