// SPDX-License-Identifier: Apache-2.0
// A byte-level BPE tokenizer as GPT-2's: texts to ids of tokens and back.
//
// A text goes through these steps, each of which a tokenizer.json states:
//   1. added tokens that are not `normalized` are found in the text as it came;
//   2. what lies between is normalised (normalizer.h);
//   3. added tokens that are `normalized` are found in that;
//   4. what lies between falls into words (pre_tokenizer.h);
//   5. a word's bytes are tokens each, and neighbours are merged by rank (byte_pair_merger.h).
//
// A text may be any bytes: what is no UTF-8 is, byte by byte, a character of no class (step 4), and
// keeps its bytes. Decode(Encode(text)) is `text` for every text unless a normaliser, a prefix
// space, a Split that drops text, or an added token that takes white space along has changed it. On
// what both can be asked, texts of UTF-8, ids are those of Hugging Face's `tokenizers` 0.23.
//
// Immutable; thread-safe. Encoding many texts is faster through a TokenEncoder each thread
// (token_encoder.h), which remembers words.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "text/bpe/added_token_finder.h"
#include "text/bpe/byte_pair_merger.h"
#include "text/bpe/normalizer.h"
#include "text/bpe/pre_tokenizer.h"
#include "text/bpe/vocabulary.h"

namespace shoal::tokens {

// The added token that ends a document, where there is one.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

class Tokenizer {
 public:
  // No text is longer, in bytes.
  static constexpr std::size_t kMaximumText = (std::size_t{1} << 31) - 1;

  struct Parts {
    // Texts by id in the alphabet of bytes; empty ones are holes (vocabulary.h).
    std::vector<std::string> vocabulary;
    // By rank.
    std::vector<MergeRule> merges;
    // A word that is a token is that token, whatever the merges make of it.
    bool ignore_merges = false;
    std::vector<AddedToken> added_tokens;
    Normalizer normalizer;
    PreTokenizer pre_tokenizer;
  };

  // INVALID_ARGUMENT: of Vocabulary::Create; an added token that is empty, is no UTF-8, stands
  // twice or has another id than the vocabulary gives its content, or the next free one.
  static absl::StatusOr<std::shared_ptr<const Tokenizer>> Create(Parts parts);

  // The same with more added tokens, in their order after those that there are; their ids are
  // assigned here. What is a token already is left out.
  absl::StatusOr<std::shared_ptr<const Tokenizer>> Extend(std::vector<AddedToken> added) const;

  // One more than the highest id.
  std::int32_t size() const { return size_; }
  // As files write it: an added token's content, else in the alphabet of bytes ("Ġhello"). Empty
  // for an id that is no token, here and below.
  std::string_view TokenText(std::int32_t id) const;
  // What it stands for in a text: " hello".
  std::string_view TokenBytes(std::int32_t id) const;
  std::optional<std::int32_t> IdOf(std::string_view token_text) const;

  // Appends the ids of `text`. RESOURCE_EXHAUSTED: an expression of the file does not come to an
  // end on this text (pattern.h). INVALID_ARGUMENT: longer than kMaximumText. After an error `ids`
  // is as it was.
  absl::Status Encode(std::string_view text, std::vector<std::int32_t>& ids) const;
  // INVALID_ARGUMENT naming the first id that is no token.
  absl::StatusOr<std::string> Decode(std::span<const std::int32_t> ids) const;

  // 64 hexadecimal digits, the SHA-256 of the tokenizer.json that this one is saved as: equal where
  // everything that decides ids is equal, whatever files it came from.
  const std::string& fingerprint() const { return fingerprint_; }

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const MergeTable& merges() const { return merges_; }
  bool ignore_merges() const { return ignore_merges_; }
  // By id.
  const std::vector<AddedToken>& added_tokens() const { return added_tokens_; }
  const Normalizer& normalizer() const { return normalizer_; }
  const PreTokenizer& pre_tokenizer() const { return pre_tokenizer_; }
  // Of steps 1 and 3.
  const AddedTokenFinder& raw_finder() const { return *raw_finder_; }
  const AddedTokenFinder& normalized_finder() const { return *normalized_finder_; }

 private:
  Tokenizer(Vocabulary vocabulary, Parts parts);

  absl::Status MakeFinders();
  // nullptr for none.
  const AddedToken* AddedWithId(std::int32_t id) const;

  const Vocabulary vocabulary_;
  const MergeTable merges_;
  const bool ignore_merges_;
  const Normalizer normalizer_;
  const PreTokenizer pre_tokenizer_;
  std::vector<AddedToken> added_tokens_;
  std::optional<AddedTokenFinder> raw_finder_;
  std::optional<AddedTokenFinder> normalized_finder_;
  std::int32_t size_ = 0;
  std::string fingerprint_;
};

}  // namespace shoal::tokens
