// SPDX-License-Identifier: Apache-2.0
#include "text/intent/sentence_pieces.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <string>

namespace shoal::intent {
namespace {

constexpr std::string_view kMarks = ",;.:!?";

// "and", a dash, or the number or the bullet of an item.
bool IsSeparator(std::string_view word) {
  static constexpr std::array<std::string_view, 10> kSeparators = {
      "and", "then", "also", "plus", "afterwards", "&", "-", "--", "*", "+"};
  while (!word.empty() && kMarks.find(word.back()) != kMarks.npos) word.remove_suffix(1);
  const std::string lower = absl::AsciiStrToLower(std::string(word));
  if (std::find(kSeparators.begin(), kSeparators.end(), lower) != kSeparators.end()) return true;
  const bool is_open = word.starts_with('(');
  if (is_open) word.remove_prefix(1);
  const bool is_closed = word.ends_with(')');
  if (is_closed) word.remove_suffix(1);
  return is_closed && !word.empty() && word.size() <= 2 &&
         std::all_of(word.begin(), word.end(),
                     [](unsigned char c) { return absl::ascii_isalnum(c); });
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
    if (std::count(word.begin(), word.end(), '"') % 2 == 1) is_quoted = !is_quoted;
    if (!was_quoted && !is_quoted && IsSeparator(word)) {
      close();
    } else {
      if (piece.end == 0) piece.begin = at;
      piece.end = end;
      if (!is_quoted && kMarks.find(word.back()) != kMarks.npos) {
        piece.end -= word.size() > 1 ? 1 : 0;
        close();
      }
    }
    at = end;
  }
  close();
  return pieces;
}

}  // namespace shoal::intent
