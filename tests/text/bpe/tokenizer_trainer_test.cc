// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/tokenizer_trainer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/text/bpe/tokenizers.h"
#include "text/bpe/tokenizer_json.h"

namespace shoal::tokens {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("the most frequent pair becomes a token first", "[tokenizer_trainer]") {
  const auto tokenizer = TrainedOn({"hug hug hug pug pug bun"}, {.vocabulary_size = 260});
  // 257 ids are special or bytes. "ug" occurs 5 times, then "hug" 3 times; " hug" and "pug" occur 2
  // times each.
  REQUIRE(tokenizer->TokenText(0) == kEndOfText);
  REQUIRE(tokenizer->TokenText(1) == "!");
  REQUIRE(tokenizer->TokenText(257) == "ug");
  REQUIRE(tokenizer->TokenText(258) == "hug");
  REQUIRE(tokenizer->size() == 260);
}

TEST_CASE("texts in any order make the same tokenizer", "[tokenizer_trainer]") {
  Texts texts;
  for (int i = 0; i < 200; ++i) {
    texts.push_back("{\"Name\":\"Sensor " + std::to_string(i * 7919 % 100) +
                    "\",\"Reading\":" + std::to_string(i * 31) + "}");
  }
  const TokenizerTrainer::Options options{.vocabulary_size = 400};
  const std::string first = TokenizerJson(*TrainedOn(texts, options));
  std::reverse(texts.begin(), texts.end());
  REQUIRE(TokenizerJson(*TrainedOn(texts, options)) == first);
  std::string joined;
  for (const std::string& text : texts) joined += text + "\n";
  REQUIRE(TrainedOn({joined}, options)->size() == 400);
}

TEST_CASE("pairs that are too rare become no tokens", "[tokenizer_trainer]") {
  const TokenizerTrainer::Options often{.vocabulary_size = 1000, .minimum_count = 3};
  REQUIRE(TrainedOn({"ab ab cd"}, often)->size() == 257);
  const TokenizerTrainer::Options once{.vocabulary_size = 1000, .minimum_count = 1};
  // The merges are ab, its space, cd, and its space.
  REQUIRE(TrainedOn({"ab ab cd"}, once)->size() == 261);
}

TEST_CASE("normalised, a name and a sentence share their tokens", "[tokenizer_trainer]") {
  const Texts texts(3, "set the asset tag of the indicator led");
  const auto tokenizer =
      TrainedOn(texts, {.vocabulary_size = 320, .split_camel_case = true, .lower_case = true});
  REQUIRE(TokensOf(*tokenizer, "AssetTag") == TokensOf(*tokenizer, "asset tag"));
  REQUIRE(TokensOf(*tokenizer, "IndicatorLED") == TokensOf(*tokenizer, "indicator led"));
  const auto plain = TrainedOn(texts, {.vocabulary_size = 320});
  REQUIRE(TokensOf(*plain, "AssetTag") != TokensOf(*plain, "asset tag"));
}

TEST_CASE("what was never seen is encoded all the same", "[tokenizer_trainer]") {
  const auto tokenizer = TrainedOn({}, {.vocabulary_size = 300});
  REQUIRE(tokenizer->size() == 257);
  const std::string text = "größe\xFF\n";
  REQUIRE(tokenizer->Decode(IdsOf(*tokenizer, text)).value() == text);
}

TEST_CASE("options that make no sense are named", "[tokenizer_trainer]") {
  const auto error = [](const TokenizerTrainer::Options& options) {
    const auto trainer = TokenizerTrainer::Create(options);
    REQUIRE(absl::IsInvalidArgument(trainer.status()));
    return std::string(trainer.status().message());
  };
  REQUIRE(error({.vocabulary_size = 256}).find("256 has no room for the 257") != std::string::npos);
  REQUIRE(error({.minimum_count = 0}).find("minimum count 0") != std::string::npos);
  REQUIRE(error({.special_tokens = {""}}).find("empty") != std::string::npos);
  REQUIRE(error({.special_tokens = {"x"}}).find("\"x\" is a token already") != std::string::npos);
}

}  // namespace
}  // namespace shoal::tokens
