// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "text/bpe/bpe_model_reader.h"
#include "text/bpe/json_node.h"
#include "text/bpe/tokenizer_json.h"

namespace shoal::tokens {
namespace {

constexpr std::array<std::string_view, 9> kMembers = {
    "version",       "truncation",     "padding", "added_tokens", "normalizer",
    "pre_tokenizer", "post_processor", "decoder", "model"};

absl::StatusOr<std::shared_ptr<const Pattern>> PatternOf(const JsonNode& node) {
  const JsonNode regex = node.At("Regex");
  const JsonNode literal = node.At("String");
  if (regex.value->is_null() == literal.value->is_null()) {
    return node.Wrong("is neither {\"Regex\": ...} nor {\"String\": ...}");
  }
  const bool is_regex = literal.value->is_null();
  const JsonNode& chosen = is_regex ? regex : literal;
  SHOAL_ASSIGN_OR_RETURN(const std::string text, chosen.String());
  auto pattern = is_regex ? Pattern::Compile(text) : Pattern::Literal(text);
  if (!pattern.ok()) return chosen.Wrong("cannot be used: " + runtime::Message(pattern.status()));
  return pattern;
}

absl::Status ReadNormalizer(const JsonNode& node, std::vector<Normalizer::Step>& steps) {
  if (node.value->is_null()) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const std::string type, node.Type());
  if (type == "Sequence") {
    SHOAL_ASSIGN_OR_RETURN(const JsonNode list, node.List("normalizers"));
    for (std::size_t i = 0; i < list.value->size(); ++i) {
      SHOAL_RETURN_IF_ERROR(ReadNormalizer(list.At(i), steps));
    }
    return absl::OkStatus();
  }
  if (type == "Lowercase") {
    steps.push_back(Normalizer::Lowercase());
    return absl::OkStatus();
  }
  if (type != "Replace") return node.Wrong("is of type " + type + ", which is not supported");
  SHOAL_ASSIGN_OR_RETURN(auto pattern, PatternOf(node.At("pattern")));
  SHOAL_ASSIGN_OR_RETURN(std::string content, node.At("content").String());
  steps.push_back({std::move(pattern), std::move(content)});
  return absl::OkStatus();
}

absl::StatusOr<PreTokenizer::Split> ReadSplit(const JsonNode& node) {
  using Keeps = PreTokenizer::Split::Keeps;
  SHOAL_ASSIGN_OR_RETURN(auto pattern, PatternOf(node.At("pattern")));
  SHOAL_ASSIGN_OR_RETURN(const std::string behavior, node.At("behavior").String());
  SHOAL_ASSIGN_OR_RETURN(const bool invert, node.At("invert").Bool(false));
  if (behavior == "Isolated") return PreTokenizer::Split{std::move(pattern), Keeps::kAll};
  if (behavior == "Removed") {
    return PreTokenizer::Split{std::move(pattern), invert ? Keeps::kMatches : Keeps::kRest};
  }
  return node.At("behavior").Wrong("is " + behavior + ", which is not supported");
}

// `has_bytes`: ByteLevel came; nothing may follow it.
absl::Status ReadPreTokenizer(const JsonNode& node, PreTokenizer::Options& options,
                              bool& has_bytes) {
  SHOAL_ASSIGN_OR_RETURN(const std::string type, node.Type());
  if (has_bytes) return node.Wrong("follows ByteLevel, which is not supported");
  if (type == "Sequence") {
    SHOAL_ASSIGN_OR_RETURN(const JsonNode list, node.List("pretokenizers"));
    for (std::size_t i = 0; i < list.value->size(); ++i) {
      SHOAL_RETURN_IF_ERROR(ReadPreTokenizer(list.At(i), options, has_bytes));
    }
    return absl::OkStatus();
  }
  if (type == "Split") {
    SHOAL_ASSIGN_OR_RETURN(PreTokenizer::Split split, ReadSplit(node));
    options.splits.push_back(std::move(split));
    return absl::OkStatus();
  }
  if (type != "ByteLevel") return node.Wrong("is of type " + type + ", which is not supported");
  has_bytes = true;
  SHOAL_ASSIGN_OR_RETURN(options.add_prefix_space, node.At("add_prefix_space").Bool(true));
  SHOAL_ASSIGN_OR_RETURN(options.gpt2_words, node.At("use_regex").Bool(true));
  return absl::OkStatus();
}

// `key`: how a Sequence calls its list.
absl::Status RequireByteLevel(const JsonNode& node, const std::string& key) {
  SHOAL_ASSIGN_OR_RETURN(const std::string type, node.Type());
  if (type == "ByteLevel") return absl::OkStatus();
  if (type != "Sequence") return node.Wrong("is of type " + type + ", which is not supported");
  SHOAL_ASSIGN_OR_RETURN(const JsonNode list, node.List(key));
  for (std::size_t i = 0; i < list.value->size(); ++i) {
    SHOAL_RETURN_IF_ERROR(RequireByteLevel(list.At(i), key));
  }
  return list.value->empty() ? list.Wrong("is empty") : absl::OkStatus();
}

absl::StatusOr<AddedToken> ReadAddedToken(const JsonNode& node) {
  if (!node.value->is_object()) return node.Wrong("is no object");
  AddedToken token;
  SHOAL_ASSIGN_OR_RETURN(token.id, node.At("id").Id());
  SHOAL_ASSIGN_OR_RETURN(token.content, node.At("content").String());
  SHOAL_ASSIGN_OR_RETURN(token.single_word, node.At("single_word").Bool(false));
  SHOAL_ASSIGN_OR_RETURN(token.lstrip, node.At("lstrip").Bool(false));
  SHOAL_ASSIGN_OR_RETURN(token.rstrip, node.At("rstrip").Bool(false));
  SHOAL_ASSIGN_OR_RETURN(token.special, node.At("special").Bool(false));
  SHOAL_ASSIGN_OR_RETURN(token.normalized, node.At("normalized").Bool(!token.special));
  return token;
}

absl::StatusOr<Tokenizer::Parts> ReadParts(const JsonNode& document) {
  if (!document.value->is_object()) return document.Wrong("is no object");
  for (const auto& [name, value] : document.value->items()) {
    if (std::find(kMembers.begin(), kMembers.end(), name) == kMembers.end()) {
      return document.At(name).Wrong("is no member of a tokenizer");
    }
  }
  Tokenizer::Parts parts;
  const JsonNode version = document.At("version");
  if (!version.value->is_null() && *version.value != "1.0") {
    return version.Wrong("is " + version.value->dump() + ", not \"1.0\"");
  }
  SHOAL_RETURN_IF_ERROR(document.At("truncation").RequireNull());
  SHOAL_RETURN_IF_ERROR(document.At("padding").RequireNull());
  SHOAL_RETURN_IF_ERROR(ReadBpeModel(document.At("model"), parts));

  const JsonNode added = document.At("added_tokens");
  if (!added.value->is_null() && !added.value->is_array()) return added.Wrong("is no list");
  for (std::size_t i = 0; i < added.value->size(); ++i) {
    SHOAL_ASSIGN_OR_RETURN(AddedToken token, ReadAddedToken(added.At(i)));
    parts.added_tokens.push_back(std::move(token));
  }
  std::vector<Normalizer::Step> steps;
  SHOAL_RETURN_IF_ERROR(ReadNormalizer(document.At("normalizer"), steps));
  parts.normalizer = Normalizer(std::move(steps));

  PreTokenizer::Options options;
  bool has_bytes = false;
  const JsonNode pre_tokenizer = document.At("pre_tokenizer");
  SHOAL_RETURN_IF_ERROR(ReadPreTokenizer(pre_tokenizer, options, has_bytes));
  if (!has_bytes) return pre_tokenizer.Wrong("has no ByteLevel: texts would not become bytes");
  parts.pre_tokenizer = PreTokenizer(std::move(options));

  const JsonNode post_processor = document.At("post_processor");
  if (!post_processor.value->is_null()) {
    SHOAL_RETURN_IF_ERROR(RequireByteLevel(post_processor, "processors"));
  }
  SHOAL_RETURN_IF_ERROR(RequireByteLevel(document.At("decoder"), "decoders"));
  return parts;
}

absl::StatusOr<std::shared_ptr<const Tokenizer>> Parse(std::string_view text) {
  SHOAL_ASSIGN_OR_RETURN(const nlohmann::json document, ParseJsonDocument(text));
  SHOAL_ASSIGN_OR_RETURN(Tokenizer::Parts parts, ReadParts({&document, ""}));
  return Tokenizer::Create(std::move(parts));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Tokenizer>> ParseTokenizerJson(std::string_view json,
                                                                    const std::string& file) {
  auto tokenizer = Parse(json);
  if (!tokenizer.ok()) return runtime::Annotate(tokenizer.status(), file);
  return tokenizer;
}

}  // namespace shoal::tokens
