// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/code_points.h"

#include <catch2/catch.hpp>
#include <string>

#include "text/bpe/byte_alphabet.h"

namespace shoal::tokens {
namespace {

std::string LoweredText(std::string_view text) {
  std::string lowered;
  AppendLowered(text, lowered);
  return lowered;
}

TEST_CASE("every code point is read back as it was written", "[code_points]") {
  for (char32_t value = 0; value <= 0x10FFFF; ++value) {
    if (value >= 0xD800 && value <= 0xDFFF) continue;
    std::string text;
    AppendUtf8(value, text);
    const CodePoint read = ReadCodePoint(text, 0);
    const CodePoint before = ReadCodePointBefore(text, text.size());
    const bool same = read.value == value && read.bytes == text.size() && read.well_formed &&
                      before.value == value && before.bytes == text.size();
    if (!same) FAIL("code point " << static_cast<std::uint32_t>(value));
  }
}

TEST_CASE("a byte that belongs to no sequence stands alone", "[code_points]") {
  // A lone continuation, overlong forms, a surrogate, a code point past the end, cut-off sequences,
  // and bytes that never occur.
  for (const std::string_view text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "\xE2\x82", "\xF0\x9F\x98", "\xFF", "\xC3"}) {
    INFO(text);
    const CodePoint read = ReadCodePoint(text, 0);
    REQUIRE_FALSE(read.well_formed);
    REQUIRE(read.bytes == 1);
    REQUIRE(read.value == kReplacementCharacter);
    REQUIRE_FALSE(IsWellFormed(text));
  }
  REQUIRE(IsWellFormed("plain, größe, 中, 😀"));
}

TEST_CASE("classes are those of Unicode", "[code_points]") {
  REQUIRE(ClassesOf('a') == (kLetter | kWordCharacter));
  REQUIRE(ClassesOf(0x4E00) == (kLetter | kWordCharacter));
  REQUIRE(ClassesOf('7') == (kNumber | kWordCharacter));
  REQUIRE(ClassesOf(0xBD) == kNumber);  // one half: a number, but not a decimal one
  REQUIRE(ClassesOf('_') == kWordCharacter);
  REQUIRE(ClassesOf(0x301) == kWordCharacter);   // a combining mark
  REQUIRE(ClassesOf(0x200D) == kWordCharacter);  // joins emoji
  REQUIRE(ClassesOf(0x85) == kSpace);
  REQUIRE(ClassesOf(0x3000) == kSpace);
  REQUIRE(ClassesOf(0x180E) == 0);   // a space until Unicode 6.3
  REQUIRE(ClassesOf(0x200B) == 0);   // its name says space, but it is none
  REQUIRE(ClassesOf(0x1F600) == 0);  // a face
  REQUIRE(ClassesOf(0x323AF) != 0);  // a letter since Unicode 15
  REQUIRE(ClassesOf(0x10FFFF) == 0);
}

TEST_CASE("capitals become small letters, all else stays", "[code_points]") {
  REQUIRE(LoweredText("AssetTag ÄΣЖ Ⅷ 中 7_") == "assettag äσж ⅷ 中 7_");
  REQUIRE(LoweredText("\xC4\xB0") == "i\xCC\x87");
  REQUIRE(LoweredText("\xFF"
                      "A\xC3") ==
          "\xFF"
          "a\xC3");
}

TEST_CASE("each byte is one printable character of the alphabet", "[code_points]") {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  REQUIRE(FromAlphabet(InAlphabet(bytes)) == bytes);
  REQUIRE(InAlphabet(" a\n\xFF") == "ĠaĊÿ");
  REQUIRE_FALSE(FromAlphabet("a b").has_value());
  REQUIRE_FALSE(FromAlphabet("中").has_value());
  REQUIRE_FALSE(FromAlphabet("\xFF").has_value());
}

}  // namespace
}  // namespace shoal::tokens
