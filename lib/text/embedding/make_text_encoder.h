// SPDX-License-Identifier: Apache-2.0
// Makes the encoder that a run's knobs select.
//
// Lexical vectors are recomputed each time, since that costs less than caching them. A language
// model is wrapped in a ChunkedEncoder, and in a StoredEncoder below it if there is a file. GPT-2
// and a state encoder get segments of texts, a sentence encoder phrases. A tuned encoder is an
// adapter (adapter.h) on top of the encoder that the adapter names, with the lexical table of the
// adapter's folder. Where bodies of responses have an encoder of their own, a BodyEncoder divides
// the texts between both.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "text/embedding/encoder_source.h"
#include "text/embedding/language_states.h"
#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

// `metrics` may be null; otherwise it must outlive the encoder. Errors begin with the knob:
// INVALID_ARGUMENT for a value that is not an encoder, NOT_FOUND for a preset without weights or a
// missing folder (the message lists alternatives), else those of tokens::LexicalEncoder::Create,
// Gpt2Encoder::Create, SentenceEncoder::Create, StateEncoder::Create, ReadAdapter,
// TunedEncoder::Create and EmbeddingFile::Open.
absl::StatusOr<std::unique_ptr<tokens::TextEncoder>> MakeTextEncoder(
    const EncoderSource& source, const EmbeddingCacheOptions& caches, runtime::Metrics* metrics);

// Returns `source` with the device that its encoder_device means to process `number` of this
// machine, as processes share its GPUs. Without a language model nothing is looked for. The errors
// are those of model::FindComputeDevice.
absl::StatusOr<EncoderSource> OnOwnDevice(EncoderSource source, std::int64_t number);

// Returns FAILED_PRECONDITION when policy.embedding_size is not the encoder's, or policy.body_size
// (0: all numbers) cuts off or exceeds those of its bodies. `knob` is what names the encoder.
absl::Status CheckSizes(const tokens::TextEncoder& encoder, const std::string& knob,
                        std::int64_t embedding_size, std::int64_t body_size);

// Makes the language model beneath a state encoder. `base` is "gpt2:<preset or folder>", "sentence"
// or "sentence:<folder>", or INVALID_ARGUMENT; `layer` is as in LanguageStatesOptions. The other
// errors are those of MakeTextEncoder.
absl::StatusOr<std::unique_ptr<const LanguageStates>> MakeLanguageStates(
    const EncoderSource& source, const std::string& base, std::int64_t layer);

}  // namespace shoal::embedding
