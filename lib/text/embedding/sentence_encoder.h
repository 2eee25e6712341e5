// SPDX-License-Identifier: Apache-2.0
// Vectors of a sentence encoder: a BERT that was trained so that texts of like meaning have like
// vectors (Reimers and Gurevych, "Sentence-BERT", 2019), such as all-MiniLM-L6-v2.
//
// A vector is the mean of the last hidden states over all tokens of a text, scaled to length 1 and
// rounded to half precision, as sentence-transformers computes it with mean pooling. A text is cut
// after kMaxTokens, or the model's positions if there are fewer. A text without words is the zero
// vector. The batch changes results only by rounding, and with slice_tokens = 1 and one thread of
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

struct SentenceEncoderOptions {
  // Device and precision are as in language::BertOptions.
  std::string device = "cpu";
  runtime::DType precision = runtime::DType::kFloat32;
  // The tokens in one pass through the model; a single text may exceed it. At least 1.
  std::int64_t slice_tokens = 1024;
};

class SentenceEncoder final : public tokens::TextEncoder {
 public:
  static constexpr std::size_t kMaxTokens = 256;

  // Loads a folder with config.json, model.safetensors (language/bert_folder.h) and a tokenizer
  // (wordpiece/word_piece_files.h). Returns the errors of both and of language::Bert::Create,
  // naming the file, and INVALID_ARGUMENT naming the folder when the tokenizer has ids that the
  // model lacks, or when the model has fewer than two positions.
  static absl::StatusOr<std::unique_ptr<SentenceEncoder>> Create(
      const std::string& folder, const SentenceEncoderOptions& options);
  ~SentenceEncoder() override;

  // Returns "bert-<16 hex digits>", a hash of everything that determines a vector: the algorithm,
  // the config, the parameters, the tokenizer's fingerprint and the precision.
  const std::string& version() const override;
  // Returns the model's width.
  std::int64_t dimension() const override;
  // Returns INTERNAL with torch's message, or when a hidden state is no finite number.
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  struct State;
  explicit SentenceEncoder(std::unique_ptr<const State> state);

  const std::unique_ptr<const State> state_;
};

}  // namespace shoal::embedding
