// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>

#include "platform/runtime/check.h"
#include "text/bpe/code_points.h"

namespace shoal::tokens {
namespace {

constexpr std::string_view kPlainEscapes = "dDpPrntfx";
constexpr std::array<std::string_view, 9> kGroups = {"(?:", "(?=",  "(?!",  "(?<=", "(?<!",
                                                     "(?>", "(?i:", "(?i)", "(?-i:"};

bool IsPunctuation(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  const bool digit = byte >= '0' && byte <= '9';
  return byte > ' ' && byte < 0x7F && !letter && !digit;
}

class Translation {
 public:
  explicit Translation(std::string_view expression) : expression_(expression) {}

  absl::StatusOr<std::string> Run() {
    if (!IsWellFormed(expression_)) return Refuse("is no UTF-8");
    while (at_ < expression_.size()) {
      const char c = expression_[at_];
      if (c == '\\') {
        SHOAL_RETURN_IF_ERROR(Escape());
      } else if (in_set_) {
        SHOAL_RETURN_IF_ERROR(InSet(c));
      } else {
        SHOAL_RETURN_IF_ERROR(OutsideSets(c));
      }
    }
    return std::move(result_);
  }

 private:
  absl::Status Refuse(std::string_view why) const {
    return runtime::InvalidArgument("regular expression " + std::string(expression_) +
                                    " at offset " + std::to_string(at_) + " " + std::string(why));
  }

  bool Follows(std::string_view text) const { return expression_.substr(at_).starts_with(text); }

  void Take(std::size_t bytes) {
    result_.append(expression_.substr(at_, bytes));
    at_ += bytes;
  }

  absl::Status Escape() {
    if (at_ + 1 == expression_.size()) return Refuse("ends in a backslash");
    const char c = expression_[at_ + 1];
    if (c == 's' || c == 'S') {
      result_.append(c == 's' ? "\\p{White_Space}" : "\\P{White_Space}");
      at_ += 2;
      return absl::OkStatus();
    }
    if (!IsPunctuation(c) && kPlainEscapes.find(c) == std::string_view::npos) {
      return Refuse(std::string("has \\") + c + ", which is not supported");
    }
    Take(2);
    // "\p{L}+": the braces belong to the escape.
    if (std::string_view("pPx").find(c) != std::string_view::npos && Follows("{")) {
      const std::size_t end = expression_.find('}', at_);
      if (end == std::string_view::npos) return Refuse("lacks a closing brace");
      Take(end + 1 - at_);
    }
    return absl::OkStatus();
  }

  absl::Status InSet(char c) {
    if (c == '[') return Refuse("has a set inside a set, which is not supported");
    if (Follows("&&")) return Refuse("has an intersection of sets, which is not supported");
    // In "[]" and "[^]" the bracket begins the set in one of the two syntaxes and ends it in the
    // other.
    if (c == ']' && at_ == set_start_) return Refuse("has an empty set");
    if (c == ']') in_set_ = false;
    Take(1);
    return absl::OkStatus();
  }

  absl::Status OutsideSets(char c) {
    if (c == '[') {
      Take(Follows("[^") ? 2 : 1);
      set_start_ = at_;
      in_set_ = true;
      return absl::OkStatus();
    }
    if (c == '(' && Follows("(?") && !HasKnownGroup()) {
      return Refuse("has a group that is not supported");
    }
    if (Follows("(*")) return Refuse("has a verb, which is not supported");
    if (Follows("}+")) return Refuse("has a possessive {n,m}+, which is not supported");
    Take(1);
    return absl::OkStatus();
  }

  bool HasKnownGroup() const {
    return std::any_of(kGroups.begin(), kGroups.end(),
                       [this](std::string_view group) { return Follows(group); });
  }

  const std::string_view expression_;
  std::size_t at_ = 0;
  std::size_t set_start_ = 0;
  bool in_set_ = false;
  std::string result_;
};

}  // namespace

absl::StatusOr<std::string> TranslateSyntax(std::string_view expression) {
  return Translation(expression).Run();
}

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

// Copies `text` with U+FFFD for each stray byte, and stores their offsets in the result in
// `replaced`.
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

// Converts an offset in MakeWellFormed's result to the offset in its input.
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
  // If there is no machine code, the search is slower but gives the same result.
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
  // An empty match right after the previous match is skipped; the search goes on one character
  // later.
  std::size_t last_end = PCRE2_UNSET;
  for (std::size_t start = 0; start <= searched.size();) {
    const int result = pcre2_match(code_, subject, searched.size(), start, PCRE2_NO_UTF_CHECK,
                                   scratch.data_, scratch.context_);
    if (result == PCRE2_ERROR_NOMATCH) break;
    // 0 means that the expression has groups, which are not needed.
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
