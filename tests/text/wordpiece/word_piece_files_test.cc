// SPDX-License-Identifier: Apache-2.0
#include "text/wordpiece/word_piece_files.h"

#include <catch2/catch.hpp>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/text/wordpiece/small_word_piece.h"

namespace shoal::tokens {
namespace {

using doubles::TemporaryFolder;
using Json = nlohmann::json;

void Write(const std::string& path, const std::string& text) {
  REQUIRE(runtime::WriteFileAtomically(path, text).ok());
}

std::string ErrorOf(const std::string& pointer, const Json& value) {
  Json document = SmallWordPieceJson();
  document[Json::json_pointer(pointer)] = value;
  const absl::Status status = ParseWordPieceJson(document.dump(), "t.json").status();
  INFO(status.ToString());
  REQUIRE(absl::IsInvalidArgument(status));
  return runtime::Message(status);
}

std::string VocabularyText() {
  std::string text;
  for (const std::string& word : SmallWords()) text += word + "\n";
  return text;
}

TEST_CASE("a vocab.txt is the same tokenizer as the tokenizer.json") {
  const TemporaryFolder folder;
  Write(folder.At("vocab.txt"), VocabularyText());
  const auto loaded = LoadWordPieceFolder(folder.path());
  REQUIRE(loaded.ok());
  REQUIRE((*loaded)->fingerprint() == SmallWordPiece()->fingerprint());
}

TEST_CASE("a tokenizer_config.json beside a vocab.txt switches steps off") {
  const TemporaryFolder folder;
  Write(folder.At("vocab.txt"), VocabularyText());
  Write(folder.At("tokenizer_config.json"), R"({"do_lower_case": false})");
  const auto cased = LoadWordPieceFolder(folder.path()).value();
  REQUIRE(cased->Encode("Set set \xC3\xA9", 256) == WordIds{2, 1, 5, 1, 3});
  Write(folder.At("tokenizer_config.json"), R"({"do_lower_case": 1})");
  const absl::Status wrong = LoadWordPieceFolder(folder.path()).status();
  REQUIRE(runtime::Message(wrong).find("tokenizer_config.json: /do_lower_case") !=
          std::string::npos);
}

TEST_CASE("a tokenizer.json comes before a vocab.txt") {
  const TemporaryFolder folder;
  Write(folder.At("vocab.txt"), "nothing\n");
  Write(folder.At("tokenizer.json"), SmallWordPieceJson().dump());
  REQUIRE(LoadWordPieceFolder(folder.path()).ok());
}

TEST_CASE("what is missing or is no tokenizer of words is named") {
  const TemporaryFolder folder;
  const absl::Status missing = LoadWordPieceFolder(folder.path()).status();
  REQUIRE(absl::IsNotFound(missing));
  REQUIRE(runtime::Message(missing).find("tokenizer.json") != std::string::npos);
  REQUIRE(ParseWordPieceJson("{", "t.json").status().message().find("t.json") == 0);
  REQUIRE(absl::IsInvalidArgument(ParseWordPieceJson("[]", "t.json").status()));
  REQUIRE(ErrorOf("/model/type", "BPE") ==
          "t.json: /model/type is \"BPE\"; only \"WordPiece\" is "
          "supported");
  REQUIRE(ErrorOf("/normalizer/type", "NFC").starts_with("t.json: /normalizer/type"));
  REQUIRE(ErrorOf("/pre_tokenizer/type", "Whitespace").starts_with("t.json: /pre_tokenizer/type"));
  REQUIRE(ErrorOf("/post_processor/single/0/SpecialToken/id", "[SEP]") ==
          "t.json: /post_processor/single is not [CLS], the text, [SEP]");
  REQUIRE(ErrorOf("/post_processor/type", "ByteLevel").starts_with("t.json: /post_processor/type"));
  REQUIRE(ErrorOf("/model/max_input_chars_per_word", -1)
              .starts_with("t.json: /model/max_input_chars_per_word"));
  REQUIRE(ErrorOf("/model/vocab/set", 6).starts_with("t.json: /model/vocab"));
  REQUIRE(ErrorOf("/added_tokens/4/id", 5).find("[MASK]") != std::string::npos);
}

}  // namespace
}  // namespace shoal::tokens
