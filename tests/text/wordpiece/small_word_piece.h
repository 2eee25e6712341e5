// SPDX-License-Identifier: Apache-2.0
// A small tokenizer of words, and its file.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/wordpiece/word_piece_files.h"

namespace shoal::tokens {

using WordIds = std::vector<std::int32_t>;

// The ids of these tokens are their places.
inline const std::vector<std::string>& SmallWords() {
  static const std::vector<std::string> kWords = {
      "[PAD]", "[UNK]", "[CLS]", "[SEP]",        "[MASK]", "set",   "boot", "##ing", "##s",   "-",
      "a",     "##b",   "##c",   "\xE4\xB8\xAD", "under",  "##set", "e",    "##",    "source"};
  return kWords;
}

// A tokenizer.json as Hugging Face writes it.
inline nlohmann::json SmallWordPieceJson() {
  nlohmann::json vocabulary = nlohmann::json::object();
  nlohmann::json added = nlohmann::json::array();
  for (std::size_t id = 0; id < SmallWords().size(); ++id) {
    vocabulary[SmallWords()[id]] = id;
    if (id < 5) {
      added.push_back(
          {{"id", id}, {"content", SmallWords()[id]}, {"special", true}, {"normalized", false}});
    }
  }
  const auto special = [](const char* name) {
    return nlohmann::json{{"SpecialToken", {{"id", name}, {"type_id", 0}}}};
  };
  return {{"version", "1.0"},
          {"truncation", {{"max_length", 128}}},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer", {{"type", "BertNormalizer"}, {"strip_accents", nullptr}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single",
             {special("[CLS]"), {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}, special("[SEP]")}}}},
          {"decoder", nullptr},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", vocabulary}}}};
}

inline std::shared_ptr<const WordPieceTokenizer> SmallWordPiece() {
  auto tokenizer = ParseWordPieceJson(SmallWordPieceJson().dump(), "small");
  INFO(tokenizer.status().message());
  REQUIRE(tokenizer.ok());
  return *tokenizer;
}

}  // namespace shoal::tokens
