// SPDX-License-Identifier: Apache-2.0
// Encodes text after text with one tokenizer, and remembers the ids of words.
//
// Texts repeat their words, so most are answered by one lookup: words of up to 32 bytes and 6 ids
// are kept in a table of fixed size, 64 bytes a place, in which a word replaces whatever stood in
// its place. No memory is taken for a token or a word once the buffers have grown. What is
// remembered never changes what is answered.
//
// Not thread-safe: one a thread; any number share a tokenizer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "text/bpe/byte_pair_merger.h"
#include "text/bpe/normalizer.h"
#include "text/bpe/pattern.h"
#include "text/bpe/pre_tokenizer.h"
#include "text/bpe/tokenizer.h"

namespace shoal::tokens {

class TokenEncoder {
 public:
  struct Options {
    // Places for words, raised to a power of two; 0: nothing is remembered.
    std::size_t cached_words = std::size_t{1} << 14;
  };

  explicit TokenEncoder(std::shared_ptr<const Tokenizer> tokenizer);
  TokenEncoder(std::shared_ptr<const Tokenizer> tokenizer, const Options& options);

  const Tokenizer& tokenizer() const { return *tokenizer_; }

  // As Tokenizer::Encode.
  absl::Status Encode(std::string_view text, std::vector<std::int32_t>& ids);

 private:
  static constexpr std::size_t kWordBytes = 32;
  static constexpr std::size_t kWordIds = 6;

  using WordKey = std::array<std::uint64_t, 4>;
  struct Place {
    WordKey key{};
    std::array<std::int32_t, kWordIds> ids{};
    std::uint8_t size = 0;  // 0: free
    std::uint8_t count = 0;
  };

  static WordKey KeyOf(std::string_view word);
  Place& PlaceOf(const WordKey& key, std::size_t size);

  absl::Status EncodeText(std::string_view text, std::vector<std::int32_t>& ids);
  absl::Status EncodeWords(std::string_view text, std::vector<std::int32_t>& ids);
  void EncodeWord(std::string_view word, std::vector<std::int32_t>& ids);
  void MergeWord(std::string_view word, std::vector<std::int32_t>& ids);

  const std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<Place> places_;
  BytePairMerger merger_;
  Pattern::Scratch patterns_;
  Normalizer::Scratch normalizing_;
  PreTokenizer::Scratch splitting_;
  std::string normalized_;
  std::vector<TextPiece> pieces_;
  std::vector<TextPiece> normalized_pieces_;
};

}  // namespace shoal::tokens
