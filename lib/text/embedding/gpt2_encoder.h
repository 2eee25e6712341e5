// SPDX-License-Identifier: Apache-2.0
// Vectors of a language model: the mean of a GPT-2's last hidden states over all tokens of a text.
//
// A text with more tokens than the model has positions is split into sequences of that length, the
// last one shorter. Each sequence attends only to itself; the mean is over the tokens of all. It is
// scaled to length 1 and rounded to half precision. The empty text is the zero vector.
//
// Time and memory are proportional to the number of tokens; ChunkedEncoder bounds the length of a
// text. The batch changes results only by rounding, and with slice_tokens = 1 and one thread of
// torch not at all. Thread-safe, though torch works best when one thread at a time uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

struct Gpt2EncoderOptions {
  // Device and precision are as in language::Gpt2Options.
  std::string device = "cpu";
  runtime::DType precision = runtime::DType::kFloat32;
  // The tokens in one pass through the model; a single sequence may exceed it. At least 1.
  std::int64_t slice_tokens = 2048;
};

class Gpt2Encoder final : public tokens::TextEncoder {
 public:
  // Loads a folder with config.json, model.safetensors (language/gpt2_folder.h) and a tokenizer
  // (text/bpe/tokenizer_json.h). Returns the errors of both and of language::Gpt2::Create, naming
  // the file, and INVALID_ARGUMENT naming the folder when the tokenizer has ids that the model
  // lacks.
  static absl::StatusOr<std::unique_ptr<Gpt2Encoder>> Create(const std::string& folder,
                                                             const Gpt2EncoderOptions& options);
  ~Gpt2Encoder() override;

  // Returns "gpt2-<16 hex digits>", a hash of everything that determines a vector: the algorithm,
  // the config, the parameters, the tokenizer's fingerprint and the precision.
  const std::string& version() const override;
  // Returns the model's width.
  std::int64_t dimension() const override;
  // Returns INTERNAL with torch's message, or the errors of tokens::Tokenizer::Encode.
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  struct State;
  explicit Gpt2Encoder(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace shoal::embedding
