// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>

#include "platform/runtime/check.h"
#include "text/bpe/code_points.h"
#include "text/bpe/pattern_syntax.h"

namespace shoal::tokens {
namespace {

constexpr std::uint32_t kMatchLimit = 10'000'000;
constexpr std::size_t kMinimumStack = std::size_t{32} << 10;
constexpr std::size_t kMaximumStack = std::size_t{1} << 20;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::string ErrorText(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

// `text` with U+FFFD for each stray byte; `replaced` gets where they stand in the result.
void MakeWellFormed(std::string_view text, std::string& result,
                    std::vector<std::size_t>& replaced) {
  result.clear();
  replaced.clear();
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint read = ReadCodePoint(text, at);
    if (read.well_formed) {
      result.append(text.substr(at, read.bytes));
    } else {
      replaced.push_back(result.size());
      result.append(kReplacement);
    }
    at += read.bytes;
  }
}

// The offset in the text that MakeWellFormed got, of an offset in what it made.
std::size_t Original(std::size_t offset, const std::vector<std::size_t>& replaced) {
  const auto before = std::lower_bound(replaced.begin(), replaced.end(), offset);
  const auto count = static_cast<std::size_t>(before - replaced.begin());
  return offset - count * (kReplacement.size() - 1);
}

}  // namespace

void Pattern::Scratch::Prepare() {
  if (data_ != nullptr) return;
  data_ = pcre2_match_data_create(1, nullptr);
  context_ = pcre2_match_context_create(nullptr);
  SHOAL_CHECK(data_ != nullptr && context_ != nullptr);
  pcre2_set_match_limit(context_, kMatchLimit);
  stack_ = pcre2_jit_stack_create(kMinimumStack, kMaximumStack, nullptr);
  if (stack_ != nullptr) pcre2_jit_stack_assign(context_, nullptr, stack_);
}

Pattern::Scratch::~Scratch() {
  pcre2_match_data_free(data_);
  pcre2_match_context_free(context_);
  pcre2_jit_stack_free(stack_);
}

Pattern::~Pattern() { pcre2_code_free(code_); }

absl::StatusOr<std::shared_ptr<const Pattern>> Pattern::Make(std::string_view expression,
                                                             bool is_literal) {
  std::string translated(expression);
  if (!is_literal) {
    SHOAL_ASSIGN_OR_RETURN(translated, TranslateSyntax(expression));
  }
  const std::uint32_t options =
      PCRE2_UTF | (is_literal ? PCRE2_LITERAL : PCRE2_UCP | PCRE2_MULTILINE);
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), &pcre2_compile_context_free);
  SHOAL_CHECK(context != nullptr);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()),
                                   translated.size(), options, &error, &offset, context.get());
  if (code == nullptr) {
    return runtime::InvalidArgument("regular expression " + std::string(expression) +
                                    " is none at about offset " + std::to_string(offset) + ": " +
                                    ErrorText(error));
  }
  // Without machine code the same is found more slowly.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return std::shared_ptr<const Pattern>(new Pattern(std::string(expression), is_literal, code));
}

absl::StatusOr<std::shared_ptr<const Pattern>> Pattern::Compile(std::string_view expression) {
  return Make(expression, /*is_literal=*/false);
}

absl::StatusOr<std::shared_ptr<const Pattern>> Pattern::Literal(std::string_view text) {
  if (text.empty()) return runtime::InvalidArgument("an empty string is no pattern");
  if (!IsWellFormed(text)) return runtime::InvalidArgument("the pattern is no UTF-8");
  return Make(text, /*is_literal=*/true);
}

absl::Status Pattern::FindAll(std::string_view text, Scratch& scratch,
                              std::vector<TextRange>& matches) const {
  matches.clear();
  scratch.Prepare();
  scratch.replaced_.clear();
  std::string_view searched = text;
  if (!IsWellFormed(text)) {
    MakeWellFormed(text, scratch.well_formed_, scratch.replaced_);
    searched = scratch.well_formed_;
  }
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(searched.data());
  const PCRE2_SIZE* found = pcre2_get_ovector_pointer(scratch.data_);
  // No empty match right after the match before: the search goes on one character later.
  std::size_t last_end = PCRE2_UNSET;
  for (std::size_t start = 0; start <= searched.size();) {
    const int result = pcre2_match(code_, subject, searched.size(), start, PCRE2_NO_UTF_CHECK,
                                   scratch.data_, scratch.context_);
    if (result == PCRE2_ERROR_NOMATCH) break;
    // 0: the expression has groups, which nobody asks for.
    if (result < 0) {
      return runtime::ResourceExhausted("regular expression " + expression_ + " on a text of " +
                                        std::to_string(text.size()) +
                                        " bytes: " + ErrorText(result));
    }
    const TextRange match{found[0], found[1]};
    start = match.end;
    if (match.begin == match.end && match.end == last_end) {
      if (start == searched.size()) break;
      start += ReadCodePoint(searched, start).bytes;
      continue;
    }
    last_end = match.end;
    matches.push_back({Original(match.begin, scratch.replaced_),  //
                       Original(match.end, scratch.replaced_)});
  }
  return absl::OkStatus();
}

}  // namespace shoal::tokens
