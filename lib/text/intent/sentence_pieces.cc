// SPDX-License-Identifier: Apache-2.0
#include "text/intent/sentence_pieces.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <string>

namespace shoal::intent {
namespace {

constexpr std::string_view kMarks = ",;.:!?";

bool IsAll(std::string_view text, bool (*is)(unsigned char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [is](char byte) {
    return is(static_cast<unsigned char>(byte));
  });
}

// "and", a dash, or the number or the bullet of an item. "2." is one only at the beginning of a
// piece.
bool IsSeparator(std::string_view word, bool is_first) {
  static constexpr std::array<std::string_view, 10> kSeparators = {
      "and", "then", "also", "plus", "afterwards", "&", "-", "--", "*", "+"};
  constexpr std::size_t kLongest = 4;
  const bool has_point = word.ends_with('.');
  while (!word.empty() && kMarks.find(word.back()) != kMarks.npos) word.remove_suffix(1);
  const std::string lower = absl::AsciiStrToLower(std::string(word));
  if (std::find(kSeparators.begin(), kSeparators.end(), lower) != kSeparators.end()) return true;
  if (word.size() > kLongest) return false;
  if (has_point) return is_first && IsAll(word, absl::ascii_isdigit);
  if (!word.ends_with(')')) return false;
  word.remove_suffix(1);
  if (!word.starts_with('(')) return IsAll(word, absl::ascii_isdigit);
  word.remove_prefix(1);
  return IsAll(word, absl::ascii_isdigit) || (word.size() == 1 && IsAll(word, absl::ascii_isalpha));
}

}  // namespace

std::vector<Piece> PiecesOf(std::string_view text) {
  std::vector<Piece> pieces;
  Piece piece;
  const auto close = [&] {
    if (piece.end > piece.begin) pieces.push_back(piece);
    piece = {};
  };
  bool is_quoted = false;
  // A quotation that does not end is none.
  const bool has_quotations = std::count(text.begin(), text.end(), '"') % 2 == 0;
  for (std::size_t at = 0; at < text.size();) {
    if (absl::ascii_isspace(static_cast<unsigned char>(text[at]))) {
      if (text[at] == '\n' && !is_quoted) close();
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !absl::ascii_isspace(static_cast<unsigned char>(text[end]))) ++end;
    const std::string_view word = text.substr(at, end - at);
    const bool was_quoted = is_quoted;
    if (has_quotations && std::count(word.begin(), word.end(), '"') % 2 == 1) {
      is_quoted = !is_quoted;
    }
    if (!was_quoted && !is_quoted && IsSeparator(word, piece.end == 0)) {
      close();
    } else {
      if (piece.end == 0) piece.begin = at;
      piece.end = end;
      if (!is_quoted && kMarks.find(word.back()) != kMarks.npos) {
        if (word.size() > 1 && word.back() != '?') --piece.end;
        close();
      }
    }
    at = end;
  }
  close();
  return pieces;
}

}  // namespace shoal::intent
