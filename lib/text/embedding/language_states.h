// SPDX-License-Identifier: Apache-2.0
// The hidden states of texts under a language model that stays as it is: a GPT-2 or a BERT.
//
// A text with more tokens than the model has positions is split into sequences of that length by a
// GPT-2, and cut by a BERT. The batch changes states only by rounding, and with slice_tokens = 1
// and one thread of torch not at all. Thread-safe, though torch works best when one thread at a
// time uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "text/language/hidden_texts.h"

namespace shoal::embedding {

struct LanguageStatesOptions {
  // Device and precision are as in language::Gpt2Options and language::BertOptions.
  std::string device = "cpu";
  runtime::DType precision = runtime::DType::kFloat32;
  // The tokens in one pass through the model; a single sequence may exceed it. At least 1.
  std::int64_t slice_tokens = 2048;
  // The number of blocks before the hidden states: 0 means the embeddings, -1 the last (normed). A
  // BERT has only the last.
  std::int64_t layer = -1;
};

class LanguageStates {
 public:
  virtual ~LanguageStates() = default;

  // Load a folder with a model and its tokenizer, as Gpt2Encoder::Create and
  // SentenceEncoder::Create do, with the same errors, and INVALID_ARGUMENT naming a layer that the
  // model lacks.
  static absl::StatusOr<std::unique_ptr<const LanguageStates>> OfGpt2(
      const std::string& folder, const LanguageStatesOptions& options);
  static absl::StatusOr<std::unique_ptr<const LanguageStates>> OfBert(
      const std::string& folder, const LanguageStatesOptions& options);

  // Identifies everything that determines the states.
  virtual const std::string& version() const = 0;
  // The number of blocks before the states.
  virtual std::int64_t layer() const = 0;
  // D: the length of a hidden state.
  virtual std::int64_t width() const = 0;
  // Returns the states of all tokens of each text. The memory is proportional to the number of
  // tokens. Returns INTERNAL with torch's message or when a state is no finite number, or the
  // errors of tokens::Tokenizer::Encode.
  virtual absl::StatusOr<language::HiddenTexts> Of(
      std::span<const std::string_view> texts) const = 0;
};

}  // namespace shoal::embedding
