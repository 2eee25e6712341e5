// SPDX-License-Identifier: Apache-2.0
// Makes a tokenizer of its own from texts: byte-pair encoding over the words of all of them.
//
// Texts are read once and not kept; what is kept is each distinct word with its count, so memory
// grows with the words and not with the texts. Then the most frequent pair of neighbouring tokens
// becomes a token, again and again, until the vocabulary is full or no pair is frequent enough. Of
// equally frequent pairs the one of lower ids goes first, so equal texts in any order make the same
// tokenizer, byte for byte, and the one that Hugging Face's BpeTrainer makes of them.
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

// The growing vocabulary of a training run: words as tokens, how often each pair of neighbours
// occurs in them, and the merges made so far.
//
// The most frequent pair is merged in all words where it stands; the pairs around it are counted
// anew, no others. A heap holds the pairs with the count that they had when they were put in, and
// what has changed by the time it comes up is put back. Not thread-safe.
class PairMerging {
 public:
  // `vocabulary`: texts by id, without holes.
  explicit PairMerging(std::vector<std::string> vocabulary);

  // A word that occurs `count` times. REQUIRES: before Start.
  void AddWord(const std::vector<std::int32_t>& ids, std::int64_t count);
  // Counts all pairs.
  void Start();

  // Makes the most frequent pair a token; of equally frequent ones that of lower ids. False, and
  // nothing done, when none occurs `minimum_count` times. REQUIRES: after Start.
  bool MergeNext(std::int64_t minimum_count);

  std::int32_t size() const { return static_cast<std::int32_t>(vocabulary_.size()); }
  // Both end it.
  std::vector<std::string> TakeVocabulary() { return std::move(vocabulary_); }
  std::vector<MergeRule> TakeRules() { return std::move(rules_); }

 private:
  // [begin, begin + size) of tokens_; it shrinks where it stands.
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
  // Counts `change` of `pair` in a word; notes the word where the pair is new in it.
  void Count(std::int32_t left, std::int32_t right, std::int64_t change, std::uint32_t word);
  void MergeIn(std::uint32_t word, const MergeRule& rule);
  // Queues what Count has noted.
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
    // With the special tokens and the 256 bytes, which there are in any case. Fewer come out where
    // the texts have no more pairs.
    std::int32_t vocabulary_size = 8192;
    // A pair that occurs less often becomes no token. 1: any pair may.
    std::int64_t minimum_count = 2;
    // The first ids.
    std::vector<std::string> special_tokens = {std::string(kEndOfText)};
    // The normaliser; both may be false, and only then does decoding give texts back as they were.
    bool split_camel_case = false;
    bool lower_case = false;
  };

  // Told of tokens made, and of how many there are to be at most.
  using Observer = std::function<void(std::int32_t, std::int32_t)>;

  // INVALID_ARGUMENT: a size without room for the special tokens and the bytes, a minimum below 1,
  // a special token that is empty, twice there or a byte.
  static absl::StatusOr<TokenizerTrainer> Create(Options options);

  TokenizerTrainer(TokenizerTrainer&&) = default;

  absl::Status AddText(std::string_view text);

  // Distinct words so far.
  std::size_t words() const { return counts_.size(); }

  // Of all texts added so far; more may be added after. `observer` may be empty.
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
