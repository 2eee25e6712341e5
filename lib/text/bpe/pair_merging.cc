// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/pair_merging.h"

#include <algorithm>

namespace shoal::tokens {
namespace {

std::uint64_t PairOf(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

PairMerging::PairMerging(std::vector<std::string> vocabulary) : vocabulary_(std::move(vocabulary)) {
  for (std::size_t i = 0; i < vocabulary_.size(); ++i) {
    id_of_text_.emplace(vocabulary_[i], static_cast<std::int32_t>(i));
  }
}

void PairMerging::AddWord(const std::vector<std::int32_t>& ids, std::int64_t count) {
  words_.push_back({tokens_.size(), ids.size(), count});
  tokens_.insert(tokens_.end(), ids.begin(), ids.end());
}

void PairMerging::Start() {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const Word& word = words_[i];
    for (std::size_t at = word.begin; at + 1 < word.begin + word.size; ++at) {
      Count(tokens_[at], tokens_[at + 1], 1, static_cast<std::uint32_t>(i));
    }
  }
  PushNoted();
}

bool PairMerging::GoesLater(const Candidate& a, const Candidate& b) {
  return a.count != b.count ? a.count < b.count : a.pair > b.pair;
}

void PairMerging::Push(Candidate candidate) {
  heap_.push_back(std::move(candidate));
  std::push_heap(heap_.begin(), heap_.end(), GoesLater);
}

PairMerging::Candidate PairMerging::Pop() {
  std::pop_heap(heap_.begin(), heap_.end(), GoesLater);
  Candidate top = std::move(heap_.back());
  heap_.pop_back();
  return top;
}

void PairMerging::Count(std::int32_t left, std::int32_t right, std::int64_t change,
                        std::uint32_t word) {
  const std::uint64_t pair = PairOf(left, right);
  counts_[pair] += change * words_[word].count;
  if (change < 0) return;
  std::vector<std::uint32_t>& words = noted_[pair];
  if (words.empty() || words.back() != word) words.push_back(word);
}

void PairMerging::PushNoted() {
  for (auto& [pair, words] : noted_) {
    const std::int64_t count = counts_[pair];
    if (count > 0) Push({count, pair, std::move(words)});
  }
  noted_.clear();
}

bool PairMerging::MergeNext(std::int64_t minimum_count) {
  while (!heap_.empty()) {
    Candidate top = Pop();
    const std::int64_t count = counts_[top.pair];
    if (count != top.count) {
      top.count = count;
      Push(std::move(top));
      continue;
    }
    if (count < minimum_count) return false;
    MergeRule rule{static_cast<std::int32_t>(top.pair >> 32),
                   static_cast<std::int32_t>(top.pair & 0xFFFFFFFF), 0};
    std::string text = vocabulary_[static_cast<std::size_t>(rule.left)] +
                       vocabulary_[static_cast<std::size_t>(rule.right)];
    const auto [known, is_new] = id_of_text_.try_emplace(text, size());
    rule.merged = known->second;
    if (is_new) vocabulary_.push_back(std::move(text));
    rules_.push_back(rule);
    for (const std::uint32_t word : top.words) MergeIn(word, rule);
    PushNoted();
    return true;
  }
  return false;
}

void PairMerging::MergeIn(std::uint32_t index, const MergeRule& rule) {
  Word& word = words_[index];
  std::int32_t* tokens = tokens_.data() + word.begin;
  // What is merged already stands before `end`, what is not from `at` on.
  std::size_t end = 0;
  std::size_t at = 0;
  while (at < word.size) {
    if (at + 1 == word.size || tokens[at] != rule.left || tokens[at + 1] != rule.right) {
      tokens[end++] = tokens[at++];
      continue;
    }
    if (end > 0) {
      Count(tokens[end - 1], rule.left, -1, index);
      Count(tokens[end - 1], rule.merged, 1, index);
    }
    if (at + 2 < word.size) {
      Count(rule.right, tokens[at + 2], -1, index);
      Count(rule.merged, tokens[at + 2], 1, index);
    }
    tokens[end++] = rule.merged;
    at += 2;
  }
  word.size = end;
}

}  // namespace shoal::tokens
