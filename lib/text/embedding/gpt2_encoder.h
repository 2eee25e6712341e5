// SPDX-License-Identifier: Apache-2.0
// A language model's vectors: the mean of a GPT-2's last hidden states over all tokens of a text.
//
// A text longer than the model's positions falls into sequences of that length, the last one
// shorter, each of which sees itself alone; the mean is over the tokens of all. It is scaled to
// length 1 and rounded to half precision. The empty text is the zero vector.
//
// Time and memory are those of the tokens given: ChunkedEncoder is what bounds a text. Bits depend
// on the batch by rounding alone; with slice_tokens = 1 and one thread of torch not even so.
// Thread-safe, though torch is best used by one thread at a time.
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
  // As language::Gpt2Options.
  std::string device = "cpu";
  runtime::DType precision = runtime::DType::kFloat32;
  // Tokens in one pass through the model, or one sequence. At least 1.
  std::int64_t slice_tokens = 2048;
};

class Gpt2Encoder final : public tokens::TextEncoder {
 public:
  // Of a folder with config.json, model.safetensors (language/gpt2_folder.h) and a tokenizer
  // (text/bpe/tokenizer_json.h). Errors of both and of language::Gpt2::Create, naming the file;
  // INVALID_ARGUMENT, naming the folder, when the tokenizer has ids that the model has not.
  static absl::StatusOr<std::unique_ptr<Gpt2Encoder>> Create(const std::string& folder,
                                                             const Gpt2EncoderOptions& options);
  ~Gpt2Encoder() override;

  // "gpt2-<16 hex digits>", of all that decides a vector: the algorithm, the config, the
  // parameters, the tokenizer's fingerprint and the precision.
  const std::string& version() const override;
  // The model's width.
  std::int64_t dimension() const override;
  // INTERNAL with torch's words; those of tokens::Tokenizer::Encode.
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  struct State;
  explicit Gpt2Encoder(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace shoal::embedding
