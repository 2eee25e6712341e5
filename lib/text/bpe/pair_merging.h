// SPDX-License-Identifier: Apache-2.0
// The growing vocabulary of a training run: words as tokens, how often each pair of neighbours
// occurs in them, and the merges made so far.
//
// The most frequent pair is merged in all words where it stands; the pairs around it are counted
// anew, no others. A heap holds the pairs with the count that they had when they were put in, and
// what has changed by the time it comes up is put back. Not thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "text/bpe/merge_table.h"

namespace shoal::tokens {

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

}  // namespace shoal::tokens
