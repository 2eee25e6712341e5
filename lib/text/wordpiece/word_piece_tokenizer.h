// SPDX-License-Identifier: Apache-2.0
// BERT's tokenizer: it turns a text into the ids of words and parts of words.
//
// A text goes through these steps:
//   1. Added tokens such as "[SEP]" are found in the original text.
//   2. The text between them is normalised (bert_normalizer.h) and split into words: at white
//      space, and around every punctuation mark.
//   3. The longest token that a word begins with is taken, then the longest one that goes on where
//      it ended ("##" in the vocabulary), until the word is used up. A word for which that fails,
//      or of more than `max_word_characters`, is the unknown token (Wu et al., "Google's Neural
//      Machine Translation System", 2016; Devlin et al., "BERT", 2018).
//   4. The ids are cut, and the ids of "[CLS]" and "[SEP]" are put around them.
//
// A text may be any bytes. For UTF-8 texts the ids are those of Hugging Face's `tokenizers` 0.23
// for a BertTokenizerFast. Immutable; thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "text/bpe/added_token_finder.h"
#include "text/wordpiece/bert_normalizer.h"

namespace shoal::tokens {

inline constexpr std::string_view kBeginToken = "[CLS]";
inline constexpr std::string_view kEndToken = "[SEP]";

class WordPieceTokenizer {
 public:
  struct Parts {
    // The tokens by id, in the form of files: "play", "##ing". An empty text is no token.
    std::vector<std::string> vocabulary;
    std::string unknown = "[UNK]";
    // The prefix of tokens that go on with a word.
    std::string prefix = "##";
    std::int64_t max_word_characters = 100;
    // Tokens that are matched verbatim. None of them may be `normalized`.
    std::vector<AddedToken> added_tokens;
    BertNormalizer normalizer;
  };

  // Returns INVALID_ARGUMENT when two tokens are equal, when the unknown token, "[CLS]" or "[SEP]"
  // is not among them, or when an added token is normalised, empty or has another id than the
  // vocabulary's.
  static absl::StatusOr<std::shared_ptr<const WordPieceTokenizer>> Create(Parts parts);

  // Returns one more than the highest id.
  std::int32_t size() const { return static_cast<std::int32_t>(parts_.vocabulary.size()); }

  // Returns the ids of `text` between the ids of "[CLS]" and "[SEP]", `max_ids` in all at most.
  // REQUIRES: max_ids >= 2.
  std::vector<std::int32_t> Encode(std::string_view text, std::size_t max_ids) const;

  // Returns 64 hexadecimal digits, a hash of everything that determines ids.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  explicit WordPieceTokenizer(Parts parts);

  absl::Status Index();
  std::optional<std::int32_t> IdOf(std::string_view token) const;
  void AppendText(std::string_view text, std::size_t limit, std::vector<std::int32_t>& ids) const;
  void AppendWord(std::string_view word, std::vector<std::int32_t>& ids) const;

  const Parts parts_;
  // The views point into parts_.
  absl::flat_hash_map<std::string_view, std::int32_t> starts_;
  // The tokens that begin with the prefix, without it.
  absl::flat_hash_map<std::string_view, std::int32_t> continuations_;
  std::size_t longest_ = 0;
  std::optional<AddedTokenFinder> finder_;
  std::int32_t unknown_ = 0;
  std::int32_t begin_ = 0;
  std::int32_t end_ = 0;
  std::string fingerprint_;
};

}  // namespace shoal::tokens
