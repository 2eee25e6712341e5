// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/pattern_syntax.h"

#include <algorithm>
#include <array>

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
    // "\p{L}+": braces that are the escape's own.
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
    // "[]" and "[^]" begin with a bracket for one of the two and end for the other.
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

}  // namespace shoal::tokens
