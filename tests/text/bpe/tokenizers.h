// SPDX-License-Identifier: Apache-2.0
// Tokenizers that tests share, and helpers to use them.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/bpe/tokenizer.h"
#include "text/bpe/tokenizer_json.h"
#include "text/bpe/tokenizer_trainer.h"

namespace shoal::tokens {

using TokenizerPointer = std::shared_ptr<const Tokenizer>;
using Ids = std::vector<std::int32_t>;

inline const TokenizerPointer& Gpt2() {
  static const TokenizerPointer kTokenizer =
      LoadGpt2Files("data/gpt2/encoder.json", "data/gpt2/vocab.bpe").value();
  return kTokenizer;
}

inline TokenizerPointer TrainedOn(const std::vector<std::string>& texts,
                                  const TokenizerTrainer::Options& options) {
  auto trainer = TokenizerTrainer::Create(options);
  REQUIRE(trainer.ok());
  for (const std::string& text : texts) REQUIRE(trainer->AddText(text).ok());
  auto tokenizer = trainer->Train({});
  REQUIRE(tokenizer.ok());
  return *tokenizer;
}

inline Ids IdsOf(const Tokenizer& tokenizer, std::string_view text) {
  Ids ids;
  REQUIRE(tokenizer.Encode(text, ids).ok());
  return ids;
}

inline std::vector<std::string> TokensOf(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : IdsOf(tokenizer, text)) {
    tokens.emplace_back(tokenizer.TokenText(id));
  }
  return tokens;
}

}  // namespace shoal::tokens
