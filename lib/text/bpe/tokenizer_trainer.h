// SPDX-License-Identifier: Apache-2.0
// Trains a new tokenizer on texts by byte-pair encoding over their words.
//
// Texts are read once and not kept. Only each distinct word and its count are kept, so memory grows
// with the number of words, not with the texts. Then the most frequent pair of neighbouring tokens
// becomes a token, repeatedly, until the vocabulary is full or no pair is frequent enough. Of
// equally frequent pairs, the one with lower ids is first. So equal texts in any order give the
// same tokenizer, byte for byte, which is also the one that Hugging Face's BpeTrainer makes.
//
// Not thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/runtime/status.h"
#include "text/bpe/byte_pair_merger.h"
#include "text/bpe/normalizer.h"
#include "text/bpe/pattern.h"
#include "text/bpe/pre_tokenizer.h"
#include "text/bpe/tokenizer.h"

namespace shoal::tokens {

// The growing vocabulary of a training run: words as tokens, the counts of neighbouring pairs in
// them, and the merges made so far.
//
// The most frequent pair is merged in all words that contain it, and only the pairs around it are
// recounted. A heap holds each pair with its count at insertion; a pair whose count has changed
// when it is popped is inserted again. Not thread-safe.
class PairMerging {
 public:
  // `vocabulary` holds texts by id, without holes.
  explicit PairMerging(std::vector<std::string> vocabulary);

  // Adds a word that occurs `count` times. REQUIRES: called before Start.
  void AddWord(const std::vector<std::int32_t>& ids, std::int64_t count);
  // Counts all pairs.
  void Start();

  // Makes the most frequent pair a token; of equally frequent pairs, the one with lower ids.
  // Returns false and does nothing when no pair occurs `minimum_count` times. REQUIRES: called
  // after Start.
  bool MergeNext(std::int64_t minimum_count);

  std::int32_t size() const { return static_cast<std::int32_t>(vocabulary_.size()); }
  // Both move the result out and end the run.
  std::vector<std::string> TakeVocabulary() { return std::move(vocabulary_); }
  std::vector<MergeRule> TakeRules() { return std::move(rules_); }

 private:
  // The word's tokens are [begin, begin + size) of tokens_; merging shrinks the word in place.
  struct Word {
    std::size_t begin;
    std::size_t size;
    std::int64_t count;
  };
  struct Candidate {
    std::int64_t count;
    std::uint64_t pair;
    std::vector<std::uint32_t> words;
  };
  using Words = absl::flat_hash_map<std::uint64_t, std::vector<std::uint32_t>>;

  static bool GoesLater(const Candidate& a, const Candidate& b);
  void Push(Candidate candidate);
  Candidate Pop();
  // Adds `change` occurrences of `pair` in a word, and notes the word where the pair is new in it.
  void Count(std::int32_t left, std::int32_t right, std::int64_t change, std::uint32_t word);
  void MergeIn(std::uint32_t word, const MergeRule& rule);
  // Queues the pairs that Count has noted.
  void PushNoted();

  std::vector<std::string> vocabulary_;
  absl::flat_hash_map<std::string, std::int32_t> id_of_text_;
  std::vector<MergeRule> rules_;
  std::vector<std::int32_t> tokens_;
  std::vector<Word> words_;
  absl::flat_hash_map<std::uint64_t, std::int64_t> counts_;
  Words noted_;
  std::vector<Candidate> heap_;
};

class TokenizerTrainer {
 public:
  struct Options {
    // The size with the special tokens and the 256 bytes, which are always present. The result is
    // smaller when the texts have no more pairs.
    std::int32_t vocabulary_size = 8192;
    // Rarer pairs do not become tokens. 1 allows any pair.
    std::int64_t minimum_count = 2;
    // These tokens get the first ids.
    std::vector<std::string> special_tokens = {std::string(kEndOfText)};
    // The normaliser. Decoding restores the exact texts only if both are false.
    bool split_camel_case = false;
    bool lower_case = false;
  };

  // Called with the number of tokens made so far, and the maximum number.
  using Observer = std::function<void(std::int32_t, std::int32_t)>;

  // Returns INVALID_ARGUMENT for a size without room for the special tokens and the bytes, a
  // minimum below 1, or a special token that is empty, repeated or a byte.
  static absl::StatusOr<TokenizerTrainer> Create(Options options);

  TokenizerTrainer(TokenizerTrainer&&) = default;

  absl::Status AddText(std::string_view text);

  // The number of distinct words so far.
  std::size_t words() const { return counts_.size(); }

  // Trains on all texts added so far; more may be added afterwards. `observer` may be empty.
  absl::StatusOr<std::shared_ptr<const Tokenizer>> Train(const Observer& observer) const;

 private:
  struct Scratch {
    Pattern::Scratch patterns;
    Normalizer::Scratch normalizing;
    PreTokenizer::Scratch splitting;
    std::string normalized;
  };

  explicit TokenizerTrainer(Options options);

  Options options_;
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  absl::flat_hash_map<std::string, std::int64_t> counts_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace shoal::tokens
