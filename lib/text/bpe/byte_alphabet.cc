// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/byte_alphabet.h"

#include <array>

#include "text/bpe/code_points.h"

namespace shoal::tokens {
namespace {

constexpr std::size_t kCharacters = 0x144;

struct Alphabet {
  std::array<char32_t, 256> character{};
  std::array<std::int16_t, kCharacters> byte{};
};

constexpr bool IsPrinted(std::size_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

constexpr Alphabet MakeAlphabet() {
  Alphabet alphabet;
  alphabet.byte.fill(-1);
  char32_t next = 0x100;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const char32_t character = IsPrinted(byte) ? static_cast<char32_t>(byte) : next++;
    alphabet.character[byte] = character;
    alphabet.byte[character] = static_cast<std::int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = MakeAlphabet();

}  // namespace

char32_t AlphabetCharacter(std::uint8_t byte) { return kAlphabet.character[byte]; }

std::string InAlphabet(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    AppendUtf8(AlphabetCharacter(static_cast<std::uint8_t>(byte)), text);
  return text;
}

std::optional<std::string> FromAlphabet(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint read = ReadCodePoint(text, at);
    if (read.value >= kCharacters || kAlphabet.byte[read.value] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(kAlphabet.byte[read.value]));
    at += read.bytes;
  }
  return bytes;
}

}  // namespace shoal::tokens
