// SPDX-License-Identifier: Apache-2.0
// How text between added tokens falls into words, which never share a token: splits by expressions,
// then GPT-2's words, as the `pre_tokenizer` of a tokenizer.json says.
//
// Immutable; thread-safe, with one Scratch a thread.
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
// The pattern looks one character ahead at most, so a word is found in one pass over its bytes;
// ASCII needs one table. Bytes that are no UTF-8 count as U+FFFD (code_points.h). Words follow one
// another and cover the text. Stateless; thread-safe.

// The pattern, for PCRE2 and Oniguruma alike.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// Where the word that starts at `at` ends. REQUIRES: at < text.size(), and a word starts there.
std::size_t WordEnd(std::string_view text, std::size_t at);

class PreTokenizer {
 public:
  // What `pattern` matches are words, and so is what lies between, unless it is dropped.
  struct Split {
    enum class Keeps { kAll, kMatches, kRest };

    std::shared_ptr<const Pattern> pattern;
    Keeps keeps = Keeps::kAll;
  };

  struct Options {
    std::vector<Split> splits;
    // A space before each part that the splits leave, unless it begins with one.
    bool add_prefix_space = false;
    // The parts are split into GPT-2's words.
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

  // Calls word(std::string_view) for each word of `text` in order; the view lives as long as the
  // call. Errors: of Pattern::FindAll.
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
