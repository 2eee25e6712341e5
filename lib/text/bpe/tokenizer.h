// SPDX-License-Identifier: Apache-2.0
// A byte-level BPE tokenizer like GPT-2's: it turns texts into token ids and back.
//
// A text goes through these steps, which a tokenizer.json configures:
//   1. Added tokens that are not `normalized` are found in the original text.
//   2. The text between them is normalised (normalizer.h).
//   3. Added tokens that are `normalized` are found in the normalised text.
//   4. The text between them is split into words (pre_tokenizer.h).
//   5. The bytes of a word become tokens, and neighbours are merged by rank (byte_pair_merger.h).
//
// A text may be any bytes. A byte that is not UTF-8 is a character of no class in step 4, and keeps
// its value. Decode(Encode(text)) is `text`, unless a normaliser, a prefix space, a Split that
// drops text, or an added token that includes white space has changed it. For UTF-8 texts, the ids
// are those of Hugging Face's `tokenizers` 0.23.
//
// Immutable; thread-safe. To encode many texts, use one TokenEncoder for each thread
// (token_encoder.h), which caches words.
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

// The added token that ends a document, in vocabularies that have it.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

class Tokenizer {
 public:
  // The longest text, in bytes.
  static constexpr std::size_t kMaximumText = (std::size_t{1} << 31) - 1;

  struct Parts {
    // Token texts by id in the alphabet of bytes; empty ones are holes (vocabulary.h).
    std::vector<std::string> vocabulary;
    // In the order of rank.
    std::vector<MergeRule> merges;
    // Whether a word that is a token becomes that token, whatever the merges say.
    bool ignore_merges = false;
    std::vector<AddedToken> added_tokens;
    Normalizer normalizer;
    PreTokenizer pre_tokenizer;
  };

  // Returns INVALID_ARGUMENT for: errors of Vocabulary::Create; a merge of an unknown id; an added
  // token that is empty, not UTF-8, repeated, or has an id other than the vocabulary's id of its
  // content or else the next free one. Also returns the errors of Normalizer::Apply.
  static absl::StatusOr<std::shared_ptr<const Tokenizer>> Create(Parts parts);

  // Returns a copy with more added tokens, in their order after the existing ones. Their ids are
  // assigned here. Contents that are already tokens are left out.
  absl::StatusOr<std::shared_ptr<const Tokenizer>> Extend(std::vector<AddedToken> added) const;

  // Returns one more than the highest id.
  std::int32_t size() const { return size_; }
  // Returns the token as files write it: the content of an added token, otherwise in the alphabet
  // of bytes ("Ġhello"). Empty for an id that is not a token, here and below.
  std::string_view TokenText(std::int32_t id) const;
  // Returns the text that the token stands for: " hello".
  std::string_view TokenBytes(std::int32_t id) const;
  std::optional<std::int32_t> IdOf(std::string_view token_text) const;

  // Appends the ids of `text`. Returns RESOURCE_EXHAUSTED when an expression of the file exceeds
  // its search limit on this text (pattern.h), and INVALID_ARGUMENT when the text is longer than
  // kMaximumText. After an error `ids` is unchanged.
  absl::Status Encode(std::string_view text, std::vector<std::int32_t>& ids) const;
  // Returns INVALID_ARGUMENT naming the first id that is not a token.
  absl::StatusOr<std::string> Decode(std::span<const std::int32_t> ids) const;

  // Returns 64 hexadecimal digits, the SHA-256 of this tokenizer saved as tokenizer.json. It is
  // equal if everything that determines ids is equal, whichever files the tokenizer came from.
  const std::string& fingerprint() const { return fingerprint_; }

  const Vocabulary& vocabulary() const { return vocabulary_; }
  const MergeTable& merges() const { return merges_; }
  bool ignore_merges() const { return ignore_merges_; }
  // Sorted by id.
  const std::vector<AddedToken>& added_tokens() const { return added_tokens_; }
  const Normalizer& normalizer() const { return normalizer_; }
  const PreTokenizer& pre_tokenizer() const { return pre_tokenizer_; }
  // The finders of steps 1 and 3.
  const AddedTokenFinder& raw_finder() const { return *raw_finder_; }
  const AddedTokenFinder& normalized_finder() const { return *normalized_finder_; }

 private:
  Tokenizer(Vocabulary vocabulary, Parts parts);

  absl::Status MakeFinders();
  // Returns null for none.
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
