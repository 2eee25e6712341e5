// SPDX-License-Identifier: Apache-2.0
#include "text/wordpiece/word_piece_tokenizer.h"

#include <catch2/catch.hpp>

#include "tests/text/wordpiece/small_word_piece.h"

namespace shoal::tokens {
namespace {

WordIds IdsOf(std::string_view text, std::size_t max_ids = 256) {
  return SmallWordPiece()->Encode(text, max_ids);
}

absl::Status CreateWith(const std::function<void(WordPieceTokenizer::Parts&)>& change) {
  WordPieceTokenizer::Parts parts;
  parts.vocabulary = SmallWords();
  change(parts);
  return WordPieceTokenizer::Create(std::move(parts)).status();
}

TEST_CASE("the longest parts of a word are taken from its begin on") {
  REQUIRE(IdsOf("boots booting underset") == WordIds{2, 6, 8, 6, 7, 14, 15, 3});
  REQUIRE(IdsOf("abc") == WordIds{2, 10, 11, 12, 3});
}

TEST_CASE("a word that cannot be used up is one unknown token") {
  REQUIRE(IdsOf("bootx set") == WordIds{2, 1, 5, 3});
  REQUIRE(IdsOf("x") == WordIds{2, 1, 3});
}

TEST_CASE("a word of more than a hundred characters is unknown, and one of a hundred is not") {
  const std::string hundred = "a" + std::string(99, 'b');
  REQUIRE(IdsOf(hundred).size() == 102);
  REQUIRE(IdsOf(hundred + "b") == WordIds{2, 1, 3});
}

TEST_CASE("every punctuation mark and every ideograph is a word of its own") {
  REQUIRE(IdsOf("set-boot--a") == WordIds{2, 5, 9, 6, 9, 9, 10, 3});
  REQUIRE(IdsOf("set\xE4\xB8\xAD"
                "boot") == WordIds{2, 5, 13, 6, 3});
}

TEST_CASE("special tokens in a text are matched verbatim") {
  REQUIRE(IdsOf("set[MASK]boot [SEP]") == WordIds{2, 5, 4, 6, 3, 3});
  REQUIRE(IdsOf("[mask]") == WordIds{2, 1, 1, 1, 3});
}

TEST_CASE("an empty text and one of spaces alone are the two tokens around a text") {
  REQUIRE(IdsOf("") == WordIds{2, 3});
  REQUIRE(IdsOf(" \t\n") == WordIds{2, 3});
}

TEST_CASE("a long text is cut so that its last token still ends it") {
  std::string text;
  for (int i = 0; i < 10; ++i) text += "boots ";
  REQUIRE(IdsOf(text, 6) == WordIds{2, 6, 8, 6, 8, 3});
  REQUIRE(IdsOf(text, 7) == WordIds{2, 6, 8, 6, 8, 6, 3});
  REQUIRE(IdsOf(text, 22).size() == 22);
  REQUIRE(IdsOf(text, 23).size() == 22);
  REQUIRE(IdsOf(text, 2) == WordIds{2, 3});
}

TEST_CASE("parts that contradict each other are refused") {
  REQUIRE(CreateWith([](auto&) {}).ok());
  REQUIRE(absl::IsInvalidArgument(CreateWith([](auto& parts) { parts.vocabulary[6] = "set"; })));
  REQUIRE(absl::IsInvalidArgument(CreateWith([](auto& parts) { parts.vocabulary[2] = "x"; })));
  REQUIRE(absl::IsInvalidArgument(CreateWith([](auto& parts) { parts.unknown = "<unk>"; })));
  for (const AddedToken& wrong :
       {AddedToken{.id = 4, .content = "[MAS]"}, AddedToken{.id = 400, .content = "[MASK]"},
        AddedToken{.id = -1, .content = "[MASK]"}, AddedToken{.id = 4, .content = ""},
        AddedToken{.id = 4, .content = "[MASK]", .normalized = true}}) {
    REQUIRE(absl::IsInvalidArgument(
        CreateWith([&](auto& parts) { parts.added_tokens.push_back(wrong); })));
  }
}

TEST_CASE("the fingerprint is of all that decides ids") {
  const auto fingerprint = [](const std::function<void(WordPieceTokenizer::Parts&)>& change) {
    WordPieceTokenizer::Parts parts;
    parts.vocabulary = SmallWords();
    change(parts);
    return WordPieceTokenizer::Create(std::move(parts)).value()->fingerprint();
  };
  const std::string plain = fingerprint([](auto&) {});
  REQUIRE(plain.size() == 64);
  REQUIRE(plain == fingerprint([](auto&) {}));
  REQUIRE(plain != fingerprint([](auto& parts) { parts.vocabulary.push_back("new"); }));
  REQUIRE(plain != fingerprint([](auto& parts) { parts.normalizer.lowercase = false; }));
  REQUIRE(plain != fingerprint([](auto& parts) { parts.max_word_characters = 5; }));
  REQUIRE(plain != fingerprint([](auto& parts) {
            parts.added_tokens.push_back({.id = 4, .content = "[MASK]"});
          }));
}

}  // namespace
}  // namespace shoal::tokens
