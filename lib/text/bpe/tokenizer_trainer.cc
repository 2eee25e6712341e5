// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/tokenizer_trainer.h"

#include <algorithm>
#include <utility>

#include "text/bpe/byte_alphabet.h"

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
  // Merged tokens lie before `end`; tokens still to be merged start at `at`.
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

namespace {

constexpr std::int32_t kBytes = 256;

// Returns the texts of the 256 bytes, sorted by character, which is the order of GPT-2's ids.
std::vector<std::string> AlphabetTexts() {
  std::vector<std::pair<char32_t, std::string>> characters;
  for (int byte = 0; byte < kBytes; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    characters.emplace_back(AlphabetCharacter(static_cast<std::uint8_t>(byte)), InAlphabet(one));
  }
  std::sort(characters.begin(), characters.end());
  std::vector<std::string> texts;
  for (auto& [character, text] : characters) texts.push_back(std::move(text));
  return texts;
}

absl::Status CheckSpecialTokens(const std::vector<std::string>& tokens) {
  std::vector<std::string> known = AlphabetTexts();
  for (const std::string& token : tokens) {
    if (token.empty()) return runtime::InvalidArgument("a special token is empty");
    if (std::find(known.begin(), known.end(), token) != known.end()) {
      return runtime::InvalidArgument("special token \"" + token + "\" is a token already");
    }
    known.push_back(token);
  }
  return absl::OkStatus();
}

std::vector<Normalizer::Step> StepsOf(const TokenizerTrainer::Options& options) {
  std::vector<Normalizer::Step> steps;
  if (options.split_camel_case) steps.push_back(Normalizer::SplitCamelCase());
  if (options.lower_case) steps.push_back(Normalizer::Lowercase());
  return steps;
}

}  // namespace

TokenizerTrainer::TokenizerTrainer(Options options)
    : options_(std::move(options)),
      normalizer_(StepsOf(options_)),
      scratch_(std::make_unique<Scratch>()) {}

absl::StatusOr<TokenizerTrainer> TokenizerTrainer::Create(Options options) {
  SHOAL_RETURN_IF_ERROR(CheckSpecialTokens(options.special_tokens));
  const auto least = static_cast<std::int32_t>(options.special_tokens.size()) + kBytes;
  if (options.vocabulary_size < least) {
    return runtime::InvalidArgument("a vocabulary of " + std::to_string(options.vocabulary_size) +
                                    " has no room for the " + std::to_string(least) +
                                    " special tokens and bytes");
  }
  if (options.minimum_count < 1) {
    return runtime::InvalidArgument("minimum count " + std::to_string(options.minimum_count) +
                                    " is below 1");
  }
  return TokenizerTrainer(std::move(options));
}

absl::Status TokenizerTrainer::AddText(std::string_view text) {
  if (!normalizer_.empty()) {
    SHOAL_RETURN_IF_ERROR(
        normalizer_.Apply(text, scratch_->patterns, scratch_->normalizing, scratch_->normalized));
    text = scratch_->normalized;
  }
  return pre_tokenizer_.ForEachWord(
      text, scratch_->patterns, scratch_->splitting,
      [this](std::string_view word) { ++counts_[absl::string_view(word.data(), word.size())]; });
}

absl::StatusOr<std::shared_ptr<const Tokenizer>> TokenizerTrainer::Train(
    const Observer& observer) const {
  Tokenizer::Parts parts;
  parts.vocabulary = options_.special_tokens;
  for (std::string& text : AlphabetTexts()) parts.vocabulary.push_back(std::move(text));
  for (std::size_t i = 0; i < options_.special_tokens.size(); ++i) {
    parts.added_tokens.push_back({.id = static_cast<std::int32_t>(i),
                                  .content = options_.special_tokens[i],
                                  .special = true});
  }
  SHOAL_ASSIGN_OR_RETURN(const Vocabulary bytes, Vocabulary::Create(parts.vocabulary));
  PairMerging merging(parts.vocabulary);
  // The hash table's order differs from run to run.
  std::vector<std::pair<std::string_view, std::int64_t>> words(counts_.begin(), counts_.end());
  std::sort(words.begin(), words.end());
  for (const auto& [word, count] : words) {
    std::vector<std::int32_t> ids;
    for (const char byte : word) ids.push_back(bytes.byte_ids()[static_cast<std::uint8_t>(byte)]);
    merging.AddWord(ids, count);
  }
  merging.Start();
  while (merging.size() < options_.vocabulary_size && merging.MergeNext(options_.minimum_count)) {
    if (observer) observer(merging.size(), options_.vocabulary_size);
  }
  parts.vocabulary = merging.TakeVocabulary();
  parts.merges = merging.TakeRules();
  parts.normalizer = normalizer_;
  return Tokenizer::Create(std::move(parts));
}

}  // namespace shoal::tokens
