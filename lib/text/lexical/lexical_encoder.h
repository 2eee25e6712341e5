// SPDX-License-Identifier: Apache-2.0
// Lexical vectors: vectors computed from the words of a text, with no training except counting.
//
// Words are split at camelCase and punctuation and put in lower case (words.h), so "AssetTag" and
// "asset tag" are the same two words. Each word, each pair of neighbouring words, and each
// character 3-gram and 4-gram of a word is a hashed feature of weight (1 + ln count) * idf. A
// feature adds to a few of the 512 dimensions with signs drawn from its hash. This sparse random
// projection needs no stored matrix and no vocabulary. The result is scaled to length 1 and rounded
// to half precision. The rounding is part of the definition, since acting and learning share the
// vectors.
//
// Structured text is split into parts. A candidate, JSON {method, uri, type, name, action, body},
// is the weighted sum of its parts' unit vectors: method, type, action, body and host have weight
// 1, name 0.4, uri 0.3. A goal with several names is the sum of its sentence's unit vector and,
// with weight 0.7, of that of the words beside its names. Function words count in the description
// of a value, JSON {choice}, and nowhere else (text_parts.h). Any other text, such as a sentence or
// a resource's body, is one part. All vectors share one space, so the cosine of a goal and a
// candidate measures how well the goal names the candidate.
//
// Each part is cut after about `kMaxWords` words. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "text/lexical/text_encoder.h"

namespace shoal::tokens {

class LexicalEncoder final : public TextEncoder {
 public:
  static constexpr std::int64_t kDimension = 512;
  static constexpr std::size_t kMaxWords = 512;

  // `idf_table_path` is a file that `encoder lexical fit` wrote; the shipped one is
  // data/encoder/lexical.idf. Returns NOT_FOUND, or DATA_LOSS naming the path when it is not such a
  // file.
  static absl::StatusOr<std::unique_ptr<LexicalEncoder>> Create(const std::string& idf_table_path);
  ~LexicalEncoder() override;

  // Returns "lexical-<16 hex digits>", a hash of the algorithm's version and the table's bytes.
  const std::string& version() const override;
  std::int64_t dimension() const override { return kDimension; }
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  struct State;
  explicit LexicalEncoder(std::unique_ptr<const State> state);

  const std::unique_ptr<const State> state_;
};

}  // namespace shoal::tokens
