// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/chunker.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "text/bpe/tokenizer_trainer.h"

namespace shoal::dataset {
namespace {

using tokens::Tokenizer;
using tokens::TokenizerTrainer;

std::shared_ptr<const Tokenizer> ByteTokenizer(bool split_camel_case, bool lower_case) {
  auto trainer =
      TokenizerTrainer::Create(
          {.vocabulary_size = 257, .split_camel_case = split_camel_case, .lower_case = lower_case})
          .value();
  return trainer.Train({}).value();
}

// Returns, for each token, the bytes of `text` that it stands for.
std::vector<std::string> PartsOf(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::int32_t> ids;
  REQUIRE(tokenizer.Encode(text, ids).ok());
  const auto ends = TokenEnds(tokenizer, text, ids);
  REQUIRE(ends.ok());
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (const std::size_t end : *ends) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  REQUIRE(begin == text.size());
  return parts;
}

}  // namespace

TEST_CASE("tokens end where their bytes do") {
  const auto tokenizer = ByteTokenizer(false, false);
  REQUIRE(PartsOf(*tokenizer, "a b") == std::vector<std::string>{"a", " ", "b"});
  REQUIRE(PartsOf(*tokenizer, "").empty());
}

TEST_CASE("a blank that a normaliser puts in has no bytes") {
  const auto tokenizer = ByteTokenizer(true, true);
  REQUIRE(PartsOf(*tokenizer, "aB C") == std::vector<std::string>{"a", "", "B", " ", "C"});
}

TEST_CASE("letters of other alphabets keep their place when they become small") {
  const auto tokenizer = ByteTokenizer(false, true);
  // Lower case keeps the two bytes of the first text, turns three bytes into one, and two into
  // three.
  for (const std::string text : {"x\xC3\x84y", "x\xE2\x84\xAAy", "x\xC4\xB0y"}) {
    const std::vector<std::string> parts = PartsOf(*tokenizer, text);
    REQUIRE(parts.front() == "x");
    REQUIRE(parts.back() == "y");
  }
}

TEST_CASE("tokens of another text are named by the byte at which they differ") {
  const auto tokenizer = ByteTokenizer(false, false);
  std::vector<std::int32_t> ids;
  REQUIRE(tokenizer->Encode("abc", ids).ok());
  const absl::Status other = TokenEnds(*tokenizer, "abd", ids).status();
  REQUIRE(absl::IsFailedPrecondition(other));
  REQUIRE(std::string(other.message()).starts_with("byte 2: "));
  REQUIRE(std::string(TokenEnds(*tokenizer, "abcd", ids).status().message()).starts_with("byte 3"));
}

}  // namespace shoal::dataset
