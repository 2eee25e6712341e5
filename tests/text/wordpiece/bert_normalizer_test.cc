// SPDX-License-Identifier: Apache-2.0
#include "text/wordpiece/bert_normalizer.h"

#include <catch2/catch.hpp>

namespace shoal::tokens {
namespace {

TEST_CASE("controls vanish, white space becomes spaces, and stray bytes are controls") {
  const BertNormalizer normalizer;
  REQUIRE(normalizer.Apply(std::string("a\0b\x01", 4) + "c\td\ne\xFF"
                                                        "f\xC2\xA0g") == "abc d ef g");
}

TEST_CASE("accents are stripped and capitals become small letters") {
  const BertNormalizer normalizer;
  REQUIRE(normalizer.Apply("\xC3\x85ngstr\xC3\xB6m Zoe\xCC\x88 \xC4\xB0") == "angstrom zoe i");
  // A Hangul syllable becomes its letters.
  REQUIRE(normalizer.Apply("\xEA\xB0\x81") == "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8");
}

TEST_CASE("an ideograph has spaces around it, other scripts have not") {
  const BertNormalizer normalizer;
  REQUIRE(normalizer.Apply("a\xE4\xB8\xAD\xE6\x96\x87\xE3\x81\x82") ==
          "a \xE4\xB8\xAD  \xE6\x96\x87 \xE3\x81\x82");
}

TEST_CASE("a step that is switched off changes nothing") {
  const BertNormalizer none{.clean_text = false,
                            .handle_chinese_characters = false,
                            .strip_accents = false,
                            .lowercase = false};
  const std::string text = "A\x01\t\xE4\xB8\xAD\xC3\x85";
  REQUIRE(none.Apply(text) == text);
  BertNormalizer accents = none;
  accents.strip_accents = true;
  REQUIRE(accents.Apply(text) ==
          "A\x01\t\xE4\xB8\xAD"
          "A");
}

}  // namespace
}  // namespace shoal::tokens
