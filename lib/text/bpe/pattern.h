// SPDX-License-Identifier: Apache-2.0
// A regular expression of a tokenizer file, run by PCRE2 with Unicode properties and, where the
// processor allows, as machine code.
//
// Hugging Face runs such expressions by Oniguruma. Compile accepts what both read alike, and says
// what it does not: escapes other than \s \S \d \D \p \P \r \n \t \f \x and escaped punctuation,
// options other than i, sets inside sets, intersections, a possessive {n,m}+. \s is
// \p{White_Space} in both. Characters younger than Unicode 14 have no class in PCRE2 10.42.
//
// Bytes that are no UTF-8 match as one U+FFFD each. Immutable; thread-safe, with one Scratch a
// thread.
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

// `expression`, as Oniguruma reads it, for PCRE2 with UTF, Unicode properties, line feeds as ends
// of lines and ^ and $ at each of them. INVALID_ARGUMENT naming the offset of what the two read
// otherwise (pattern.h), or of what is no UTF-8.
absl::StatusOr<std::string> TranslateSyntax(std::string_view expression);

// [begin, end) of a text.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const TextRange&) const = default;
};

class Pattern {
 public:
  // The memory of searches, taken when the first one starts. Not thread-safe; serves any number of
  // patterns.
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

  // INVALID_ARGUMENT naming the offset in `expression` and why.
  static absl::StatusOr<std::shared_ptr<const Pattern>> Compile(std::string_view expression);
  // Matches `text` itself. INVALID_ARGUMENT when it is empty or no UTF-8.
  static absl::StatusOr<std::shared_ptr<const Pattern>> Literal(std::string_view text);

  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // What was compiled, and how.
  const std::string& expression() const { return expression_; }
  bool is_literal() const { return is_literal_; }

  // Replaces `matches` by all matches from left to right; an empty match right after a match is
  // none. RESOURCE_EXHAUSTED when the expression tries more ways through `text` than PCRE2's limit.
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
