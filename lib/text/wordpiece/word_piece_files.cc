// SPDX-License-Identifier: Apache-2.0
#include "text/wordpiece/word_piece_files.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "platform/content/json_node.h"
#include "platform/runtime/atomic_file.h"
#include "text/bpe/tokenizer_json.h"

namespace shoal::tokens {
namespace {

using content::JsonNode;
using WordPiecePointer = std::shared_ptr<const WordPieceTokenizer>;

constexpr std::string_view kSpecialTokens[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

absl::Status RequireType(const JsonNode& node, std::string_view wanted) {
  SHOAL_ASSIGN_OR_RETURN(const std::string type, node.Type());
  return type == wanted ? absl::OkStatus()
                        : node.At("type").Wrong("is \"" + type + "\"; only \"" +
                                                std::string(wanted) + "\" is supported");
}

absl::Status ReadBertNormalizer(const JsonNode& node, BertNormalizer& normalizer) {
  SHOAL_RETURN_IF_ERROR(RequireType(node, "BertNormalizer"));
  SHOAL_ASSIGN_OR_RETURN(normalizer.clean_text, node.At("clean_text").Bool(true));
  SHOAL_ASSIGN_OR_RETURN(normalizer.handle_chinese_characters,
                         node.At("handle_chinese_chars").Bool(true));
  SHOAL_ASSIGN_OR_RETURN(normalizer.lowercase, node.At("lowercase").Bool(true));
  SHOAL_ASSIGN_OR_RETURN(normalizer.strip_accents,
                         node.At("strip_accents").Bool(normalizer.lowercase));
  return absl::OkStatus();
}

absl::Status ReadWordPieceModel(const JsonNode& node, WordPieceTokenizer::Parts& parts) {
  SHOAL_RETURN_IF_ERROR(RequireType(node, "WordPiece"));
  SHOAL_ASSIGN_OR_RETURN(parts.unknown, node.At("unk_token").String());
  SHOAL_ASSIGN_OR_RETURN(parts.prefix, node.At("continuing_subword_prefix").String());
  SHOAL_ASSIGN_OR_RETURN(parts.max_word_characters, node.At("max_input_chars_per_word").Count());
  return ReadVocabulary(node.At("vocab"), parts.vocabulary).status();
}

// Checks that one text becomes "[CLS]", the text, "[SEP]".
absl::Status CheckTemplate(const JsonNode& node) {
  SHOAL_ASSIGN_OR_RETURN(const JsonNode single, node.List("single"));
  const auto names = [&single](std::size_t place, const char* kind, std::string_view id) {
    const JsonNode part = single.At(place).At(kind).At("id");
    return part.value->is_string() && part.value->get_ref<const std::string&>() == id;
  };
  const bool expected = single.value->size() == 3 && names(0, "SpecialToken", kBeginToken) &&
                        names(1, "Sequence", "A") && names(2, "SpecialToken", kEndToken);
  return expected ? absl::OkStatus() : single.Wrong("is not [CLS], the text, [SEP]");
}

absl::Status CheckProcessor(const JsonNode& node) {
  if (node.value->is_null()) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const std::string type, node.Type());
  if (type == "TemplateProcessing") return CheckTemplate(node);
  return RequireType(node, "BertProcessing");
}

absl::StatusOr<WordPiecePointer> FromDocument(const JsonNode& document) {
  if (!document.value->is_object()) return document.Wrong("is no object");
  WordPieceTokenizer::Parts parts;
  SHOAL_RETURN_IF_ERROR(ReadWordPieceModel(document.At("model"), parts));
  SHOAL_ASSIGN_OR_RETURN(parts.added_tokens, ReadAddedTokens(document.At("added_tokens")));
  SHOAL_RETURN_IF_ERROR(ReadBertNormalizer(document.At("normalizer"), parts.normalizer));
  SHOAL_RETURN_IF_ERROR(RequireType(document.At("pre_tokenizer"), "BertPreTokenizer"));
  SHOAL_RETURN_IF_ERROR(CheckProcessor(document.At("post_processor")));
  return WordPieceTokenizer::Create(std::move(parts));
}

absl::Status ReadTokenizerConfig(const std::string& path, BertNormalizer& normalizer) {
  const auto text = runtime::ReadFile(path, kMaximumTokenizerFile);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(text.status());
  const auto read = [&]() -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(const nlohmann::json json, content::ParseJsonDocument(*text));
    const JsonNode document{&json, ""};
    if (!json.is_object()) return document.Wrong("is no object");
    SHOAL_ASSIGN_OR_RETURN(normalizer.lowercase, document.At("do_lower_case").Bool(true));
    SHOAL_ASSIGN_OR_RETURN(normalizer.strip_accents,
                           document.At("strip_accents").Bool(normalizer.lowercase));
    SHOAL_ASSIGN_OR_RETURN(normalizer.handle_chinese_characters,
                           document.At("tokenize_chinese_chars").Bool(true));
    return absl::OkStatus();
  };
  return runtime::Annotate(read(), path);
}

absl::StatusOr<WordPiecePointer> LoadVocabularyFile(const std::filesystem::path& folder) {
  const std::string path = (folder / "vocab.txt").string();
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(path, kMaximumTokenizerFile));
  WordPieceTokenizer::Parts parts;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool special = std::ranges::find(kSpecialTokens, line) != std::end(kSpecialTokens);
    if (special) {
      parts.added_tokens.push_back({.id = static_cast<std::int32_t>(parts.vocabulary.size()),
                                    .content = std::string(line),
                                    .special = true});
    }
    parts.vocabulary.emplace_back(line);
  }
  SHOAL_RETURN_IF_ERROR(
      ReadTokenizerConfig((folder / "tokenizer_config.json").string(), parts.normalizer));
  auto tokenizer = WordPieceTokenizer::Create(std::move(parts));
  if (!tokenizer.ok()) return runtime::Annotate(tokenizer.status(), path);
  return tokenizer;
}

}  // namespace

absl::StatusOr<WordPiecePointer> ParseWordPieceJson(std::string_view text,
                                                    const std::string& file) {
  const auto parse = [&]() -> absl::StatusOr<WordPiecePointer> {
    SHOAL_ASSIGN_OR_RETURN(const nlohmann::json document, content::ParseJsonDocument(text));
    return FromDocument({&document, ""});
  };
  auto tokenizer = parse();
  if (!tokenizer.ok()) return runtime::Annotate(tokenizer.status(), file);
  return tokenizer;
}

absl::StatusOr<WordPiecePointer> LoadWordPieceFolder(const std::string& folder) {
  const std::filesystem::path path(folder);
  std::error_code error;
  const std::string json = (path / "tokenizer.json").string();
  if (!std::filesystem::exists(json, error) && std::filesystem::exists(path / "vocab.txt", error)) {
    return LoadVocabularyFile(path);
  }
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(json, kMaximumTokenizerFile));
  return ParseWordPieceJson(text, json);
}

}  // namespace shoal::tokens
