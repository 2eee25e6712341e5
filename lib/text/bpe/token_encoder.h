// SPDX-License-Identifier: Apache-2.0
// Encodes many texts with one tokenizer, and caches the ids of words.
//
// Texts repeat their words, so one lookup answers most of them. Words of up to 32 bytes and 6 ids
// are kept in a table of fixed size with 64 bytes for each slot; a new word replaces the one in its
// slot. Once the buffers have grown, encoding allocates no memory for a token or a word. The cache
// never changes a result.
//
// Not thread-safe: use one object for each thread; any number of them may share a tokenizer.
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
    // The number of slots for words, rounded up to a power of two. 0 disables the cache.
    std::size_t cached_words = std::size_t{1} << 14;
  };

  explicit TokenEncoder(std::shared_ptr<const Tokenizer> tokenizer);
  TokenEncoder(std::shared_ptr<const Tokenizer> tokenizer, const Options& options);

  const Tokenizer& tokenizer() const { return *tokenizer_; }

  // Does the same as Tokenizer::Encode.
  absl::Status Encode(std::string_view text, std::vector<std::int32_t>& ids);

 private:
  static constexpr std::size_t kWordBytes = 32;
  static constexpr std::size_t kWordIds = 6;

  using WordKey = std::array<std::uint64_t, 4>;
  struct Place {
    WordKey key{};
    std::array<std::int32_t, kWordIds> ids{};
    std::uint8_t size = 0;  // 0 for a free slot
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
