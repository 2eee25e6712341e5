// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/pre_tokenizer.h"

#include <array>
#include <cstdint>

#include "text/bpe/code_points.h"

namespace shoal::tokens {
namespace {

enum Kind : std::uint8_t { kOtherKind, kLetterKind, kNumberKind, kSpaceKind };

constexpr Kind AsciiKind(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return kLetterKind;
  if (c >= '0' && c <= '9') return kNumberKind;
  return c == ' ' || (c >= '\t' && c <= '\r') ? kSpaceKind : kOtherKind;
}

constexpr std::array<Kind, 128> MakeAsciiKinds() {
  std::array<Kind, 128> kinds{};
  for (std::size_t c = 0; c < kinds.size(); ++c) kinds[c] = AsciiKind(static_cast<char>(c));
  return kinds;
}

constexpr std::array<Kind, 128> kAsciiKinds = MakeAsciiKinds();

struct Character {
  Kind kind;
  std::size_t bytes;
};

Character ReadBeyondAscii(std::string_view text, std::size_t at) {
  const CodePoint read = ReadCodePoint(text, at);
  const std::uint8_t classes = ClassesOf(read.value);
  if ((classes & kLetter) != 0) return {kLetterKind, read.bytes};
  if ((classes & kNumber) != 0) return {kNumberKind, read.bytes};
  return {(classes & kSpace) != 0 ? kSpaceKind : kOtherKind, read.bytes};
}

Character Read(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  return byte < 0x80 ? Character{kAsciiKinds[byte], 1} : ReadBeyondAscii(text, at);
}

std::size_t RunEnd(std::string_view text, std::size_t at, Kind kind) {
  while (at < text.size()) {
    const Character character = Read(text, at);
    if (character.kind != kind) break;
    at += character.bytes;
  }
  return at;
}

// Returns 0 where no contraction starts.
std::size_t ContractionSize(std::string_view text, std::size_t at) {
  const char second = at + 1 < text.size() ? text[at + 1] : '\0';
  if (second == 's' || second == 't' || second == 'm' || second == 'd') return 2;
  const char third = at + 2 < text.size() ? text[at + 2] : '\0';
  const bool long_one = (second == 'r' && third == 'e') || (second == 'v' && third == 'e') ||
                        (second == 'l' && third == 'l');
  return long_one ? 3 : 0;
}

// Returns the end of a run of spaces. The last space is left for the next word, except at the end
// of the text.
std::size_t EndOfSpaces(std::string_view text, std::size_t at) {
  std::size_t last = at;
  std::size_t end = at;
  while (end < text.size()) {
    const Character character = Read(text, end);
    if (character.kind != kSpaceKind) break;
    last = end;
    end += character.bytes;
  }
  return end == text.size() || last == at ? end : last;
}

}  // namespace

std::size_t WordEnd(std::string_view text, std::size_t at) {
  const Character first = Read(text, at);
  if (first.kind != kSpaceKind) {
    if (text[at] == '\'') {
      const std::size_t size = ContractionSize(text, at);
      if (size > 0) return at + size;
    }
    return RunEnd(text, at + first.bytes, first.kind);
  }
  if (text[at] == ' ' && at + 1 < text.size()) {
    const Character second = Read(text, at + 1);
    if (second.kind != kSpaceKind) return RunEnd(text, at + 1 + second.bytes, second.kind);
  }
  return EndOfSpaces(text, at);
}

namespace {

void Keep(std::string_view part, std::vector<std::string_view>& parts) {
  if (!part.empty()) parts.push_back(part);
}

}  // namespace

absl::Status PreTokenizer::SplitParts(std::string_view text, Pattern::Scratch& patterns,
                                      Scratch& scratch) const {
  scratch.parts.assign(1, text);
  for (const Split& split : options_.splits) {
    scratch.before.swap(scratch.parts);
    scratch.parts.clear();
    for (const std::string_view part : scratch.before) {
      SHOAL_RETURN_IF_ERROR(split.pattern->FindAll(part, patterns, scratch.matches));
      std::size_t done = 0;
      for (const TextRange& match : scratch.matches) {
        if (split.keeps != Split::Keeps::kMatches) {
          Keep(part.substr(done, match.begin - done), scratch.parts);
        }
        if (split.keeps != Split::Keeps::kRest) {
          Keep(part.substr(match.begin, match.end - match.begin), scratch.parts);
        }
        done = match.end;
      }
      if (split.keeps != Split::Keeps::kMatches) Keep(part.substr(done), scratch.parts);
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal::tokens
