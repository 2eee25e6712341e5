// SPDX-License-Identifier: Apache-2.0
// Splits the text between added tokens into words, which never share a token: first by expressions,
// then into GPT-2's words, as the `pre_tokenizer` of a tokenizer.json says.
//
// Immutable; thread-safe, with one Scratch for each thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "text/bpe/pattern.h"

namespace shoal::tokens {

// Splits text into words as GPT-2 does, without a regular expression:
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// The pattern looks ahead at most one character, so a word is found in one pass over its bytes;
// ASCII needs one table. Bytes that are not UTF-8 count as U+FFFD (code_points.h). Words are
// adjacent and cover the text. Stateless; thread-safe.

// The pattern in the syntax that PCRE2 and Oniguruma share.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Returns the end of the word that starts at `at`. REQUIRES: at < text.size(); a word starts there.
std::size_t WordEnd(std::string_view text, std::size_t at);

class PreTokenizer {
 public:
  // The matches of `pattern` and the text between them become separate parts, unless dropped.
  struct Split {
    enum class Keeps { kAll, kMatches, kRest };

    std::shared_ptr<const Pattern> pattern;
    Keeps keeps = Keeps::kAll;
  };

  struct Options {
    std::vector<Split> splits;
    // Whether each part that the splits leave gets a leading space, unless it has one.
    bool add_prefix_space = false;
    // Whether the parts are split into GPT-2's words.
    bool gpt2_words = true;
  };

  struct Scratch {
    std::vector<TextRange> matches;
    std::vector<std::string_view> parts;
    std::vector<std::string_view> before;
    std::string prefixed;
  };

  PreTokenizer() = default;
  explicit PreTokenizer(Options options) : options_(std::move(options)) {}

  const Options& options() const { return options_; }

  // Calls word(std::string_view) for each word of `text` in order; the view is valid during the
  // call. Returns the errors of Pattern::FindAll.
  template <typename Word>
  absl::Status ForEachWord(std::string_view text, Pattern::Scratch& patterns, Scratch& scratch,
                           Word&& word) const;

 private:
  absl::Status SplitParts(std::string_view text, Pattern::Scratch& patterns,
                          Scratch& scratch) const;
  template <typename Word>
  void ForEachWordOfPart(std::string_view part, Scratch& scratch, Word& word) const;

  Options options_;
};

//////// Implementation details follow.
template <typename Word>
void PreTokenizer::ForEachWordOfPart(std::string_view part, Scratch& scratch, Word& word) const {
  if (options_.add_prefix_space && !part.starts_with(' ')) {
    scratch.prefixed.assign(1, ' ').append(part);
    part = scratch.prefixed;
  }
  if (!options_.gpt2_words) {
    word(part);
    return;
  }
  for (std::size_t at = 0; at < part.size();) {
    const std::size_t end = WordEnd(part, at);
    word(part.substr(at, end - at));
    at = end;
  }
}

template <typename Word>
absl::Status PreTokenizer::ForEachWord(std::string_view text, Pattern::Scratch& patterns,
                                       Scratch& scratch, Word&& word) const {
  if (text.empty()) return absl::OkStatus();
  if (options_.splits.empty()) {
    ForEachWordOfPart(text, scratch, word);
    return absl::OkStatus();
  }
  SHOAL_RETURN_IF_ERROR(SplitParts(text, patterns, scratch));
  for (const std::string_view part : scratch.parts) ForEachWordOfPart(part, scratch, word);
  return absl::OkStatus();
}

}  // namespace shoal::tokens
