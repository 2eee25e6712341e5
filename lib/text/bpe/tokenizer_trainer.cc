// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/tokenizer_trainer.h"

#include <algorithm>
#include <utility>

#include "text/bpe/byte_alphabet.h"
#include "text/bpe/pair_merging.h"

namespace shoal::tokens {
namespace {

constexpr std::int32_t kBytes = 256;

// The texts of the 256 bytes, by character: the order of GPT-2's ids.
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
  // The table's own order differs from run to run.
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
