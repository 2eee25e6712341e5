// SPDX-License-Identifier: Apache-2.0
// Lexical vectors: what a text says by its words, without any training but counting.
//
// Words are split at camelCase and punctuation and lowered (tokens/words.h), so "AssetTag" and
// "asset tag" are the same two words. Each word, pair of neighbouring words and character 3- and
// 4-gram of a word is a feature, hashed; its weight is (1 + ln count) * idf. A feature adds to a
// few of the 512 dimensions with signs drawn from its hash: a sparse random projection, so no
// matrix is stored and no vocabulary is needed. The result is scaled to length 1 and rounded to
// half precision; the rounding is part of the definition, since acting and learning share the
// vectors.
//
// Structured text counts by its parts. A candidate, JSON {method, uri, type, name, action, body},
// is the sum of the unit vectors of its parts by weight: method, type, action and body 1, name 0.4,
// uri 0.3. Any other text, a sentence or a resource's body, is one part. All share one space, so
// the cosine of a goal and a candidate says how much the goal names the candidate.
//
// Long texts are cut after `kMaxWords` words. Thread-safe.
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

  // `idf_table_path`: written by `encoder lexical fit`; the shipped one is
  // data/encoder/lexical.idf. NOT_FOUND, DATA_LOSS naming the path when it is no such file.
  static absl::StatusOr<std::unique_ptr<LexicalEncoder>> Create(const std::string& idf_table_path);
  ~LexicalEncoder() override;

  // "lexical-<16 hex digits>", of the algorithm's version and the table's bytes.
  const std::string& version() const override;
  std::int64_t dimension() const override { return kDimension; }
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  struct State;
  explicit LexicalEncoder(std::unique_ptr<const State> state);

  const std::unique_ptr<const State> state_;
};

}  // namespace shoal::tokens
