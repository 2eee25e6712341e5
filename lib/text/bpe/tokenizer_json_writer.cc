// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/bpe/tokenizer_json.h"

namespace shoal::tokens {
namespace {

using Json = nlohmann::ordered_json;

void AppendString(std::string_view text, std::string& document) {
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
  });
  if (plain) {
    document.append(1, '"').append(text).append(1, '"');
  } else {
    document.append(Json(text).dump());
  }
}

Json PatternJson(const Pattern& pattern) {
  return {{pattern.is_literal() ? "String" : "Regex", pattern.expression()}};
}

Json NormalizerJson(const Normalizer& normalizer) {
  if (normalizer.empty()) return nullptr;
  Json steps = Json::array();
  for (const Normalizer::Step& step : normalizer.steps()) {
    if (step.pattern != nullptr) {
      steps.push_back({{"type", "Replace"},
                       {"pattern", PatternJson(*step.pattern)},
                       {"content", step.content}});
    } else {
      steps.push_back({{"type", "Lowercase"}});
    }
  }
  return {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
}

Json SplitJson(const PreTokenizer::Split& split) {
  using Keeps = PreTokenizer::Split::Keeps;
  return {{"type", "Split"},
          {"pattern", PatternJson(*split.pattern)},
          {"behavior", split.keeps == Keeps::kAll ? "Isolated" : "Removed"},
          {"invert", split.keeps == Keeps::kMatches}};
}

Json PreTokenizerJson(const PreTokenizer::Options& options) {
  Json bytes = {{"type", "ByteLevel"},
                {"add_prefix_space", options.add_prefix_space},
                {"trim_offsets", true},
                {"use_regex", options.gpt2_words}};
  if (options.splits.empty()) return bytes;
  Json steps = Json::array();
  for (const PreTokenizer::Split& split : options.splits) steps.push_back(SplitJson(split));
  steps.push_back(std::move(bytes));
  return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

Json AddedTokenJson(const AddedToken& token) {
  return {{"id", token.id},          {"content", token.content}, {"single_word", token.single_word},
          {"lstrip", token.lstrip},  {"rstrip", token.rstrip},   {"normalized", token.normalized},
          {"special", token.special}};
}

// A line each, so that two files compare well.
void AppendVocabulary(const Vocabulary& vocabulary, std::string& document) {
  std::string_view separator = "\n";
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.Text(id).empty()) continue;
    document.append(separator);
    AppendString(vocabulary.Text(id), document);
    document.append(":").append(std::to_string(id));
    separator = ",\n";
  }
}

void AppendMerges(const Tokenizer& tokenizer, std::string& document) {
  std::string_view separator = "\n";
  for (const MergeRule& rule : tokenizer.merges().rules()) {
    document.append(separator).append("[");
    AppendString(tokenizer.vocabulary().Text(rule.left), document);
    document.append(",");
    AppendString(tokenizer.vocabulary().Text(rule.right), document);
    document.append("]");
    separator = ",\n";
  }
}

}  // namespace

std::string TokenizerJson(const Tokenizer& tokenizer) {
  std::string document = "{\n\"version\":\"1.0\",\n\"truncation\":null,\n\"padding\":null,\n";
  document.append("\"added_tokens\":[");
  std::string_view separator = "\n";
  for (const AddedToken& token : tokenizer.added_tokens()) {
    document.append(separator).append(AddedTokenJson(token).dump());
    separator = ",\n";
  }
  document.append("],\n\"normalizer\":").append(NormalizerJson(tokenizer.normalizer()).dump());
  document.append(",\n\"pre_tokenizer\":");
  document.append(PreTokenizerJson(tokenizer.pre_tokenizer().options()).dump());
  document.append(",\n\"post_processor\":null,\n\"decoder\":");
  document.append(
      PreTokenizerJson({.splits = {}, .add_prefix_space = true, .gpt2_words = true}).dump());
  document.append(",\n\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,");
  document.append("\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,");
  document.append("\"fuse_unk\":false,\"byte_fallback\":false,\"ignore_merges\":");
  document.append(tokenizer.ignore_merges() ? "true" : "false").append(",\n\"vocab\":{");
  AppendVocabulary(tokenizer.vocabulary(), document);
  document.append("},\n\"merges\":[");
  AppendMerges(tokenizer, document);
  document.append("]}\n}\n");
  return document;
}

}  // namespace shoal::tokens
