// SPDX-License-Identifier: Apache-2.0
// A regular expression of a tokenizer file. PCRE2 runs it with Unicode properties and, where the
// processor allows, as machine code.
//
// Hugging Face runs such expressions with Oniguruma. Compile accepts only what both read alike, and
// names what it rejects: escapes other than \s \S \d \D \p \P \r \n \t \f \x and escaped
// punctuation, options other than i, sets inside sets, intersections, a possessive {n,m}+. \s is
// \p{White_Space} in both. Characters newer than Unicode 14 have no class in PCRE2 10.42.
//
// Each byte that is not UTF-8 matches as one U+FFFD. Immutable; thread-safe, with one Scratch for
// each thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

struct pcre2_real_code_8;
struct pcre2_real_match_context_8;
struct pcre2_real_match_data_8;
struct pcre2_real_jit_stack_8;

namespace shoal::tokens {

// Regular expressions that Oniguruma and PCRE2 read alike.

// Translates `expression` from Oniguruma's syntax for PCRE2 with UTF, Unicode properties, line
// feeds as line ends, and ^ and $ matching at each line. INVALID_ARGUMENT names the offset of
// anything that the two read differently (see above) or that is not UTF-8.
absl::StatusOr<std::string> TranslateSyntax(std::string_view expression);

// The range [begin, end) of a text.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const TextRange&) const = default;
};

class Pattern {
 public:
  // The memory of searches, allocated when the first search starts. Not thread-safe; one Scratch
  // serves any number of patterns.
  class Scratch {
   public:
    Scratch() = default;
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

   private:
    friend class Pattern;

    void Prepare();

    pcre2_real_match_data_8* data_ = nullptr;
    pcre2_real_match_context_8* context_ = nullptr;
    pcre2_real_jit_stack_8* stack_ = nullptr;
    std::string well_formed_;
    std::vector<std::size_t> replaced_;  // offsets into well_formed_
  };

  // INVALID_ARGUMENT names the offset in `expression` and the reason.
  static absl::StatusOr<std::shared_ptr<const Pattern>> Compile(std::string_view expression);
  // Makes a pattern that matches `text` itself; INVALID_ARGUMENT when it is empty or not UTF-8.
  static absl::StatusOr<std::shared_ptr<const Pattern>> Literal(std::string_view text);

  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // The expression or literal text, as it was given.
  const std::string& expression() const { return expression_; }
  bool is_literal() const { return is_literal_; }

  // Replaces `matches` by all matches from left to right, ignoring an empty match right after a
  // match. Returns RESOURCE_EXHAUSTED when the search exceeds PCRE2's match limit.
  absl::Status FindAll(std::string_view text, Scratch& scratch,
                       std::vector<TextRange>& matches) const;

 private:
  Pattern(std::string expression, bool is_literal, pcre2_real_code_8* code)
      : expression_(std::move(expression)), is_literal_(is_literal), code_(code) {}

  static absl::StatusOr<std::shared_ptr<const Pattern>> Make(std::string_view expression,
                                                             bool is_literal);

  const std::string expression_;
  const bool is_literal_;
  pcre2_real_code_8* const code_;
};

}  // namespace shoal::tokens
