// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/tokenizer_json.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "platform/runtime/atomic_file.h"

namespace shoal::tokens {

using nlohmann::json;

absl::StatusOr<MergeRule> ResolveMerge(const std::string& left, const std::string& right,
                                       const IdByText& ids) {
  MergeRule rule;
  const auto find = [&ids](const std::string& text, std::int32_t& id) -> absl::Status {
    const auto found = ids.find(text);
    if (found == ids.end()) {
      return runtime::InvalidArgument("needs \"" + text + "\", which is no token");
    }
    id = found->second;
    return absl::OkStatus();
  };
  SHOAL_RETURN_IF_ERROR(find(left, rule.left));
  SHOAL_RETURN_IF_ERROR(find(right, rule.right));
  SHOAL_RETURN_IF_ERROR(find(left + right, rule.merged));
  return rule;
}

absl::StatusOr<MergeRule> ParseMerge(std::string_view text, const IdByText& ids) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
    return runtime::InvalidArgument("is not two tokens with one space between");
  }
  return ResolveMerge(std::string(text.substr(0, space)), std::string(text.substr(space + 1)), ids);
}

absl::StatusOr<IdByText> ReadVocabulary(const content::JsonNode& node,
                                        std::vector<std::string>& texts) {
  if (!node.value->is_object()) return node.Wrong("is no object");
  IdByText ids;
  ids.reserve(node.value->size());
  const std::size_t limit = node.value->size() + Vocabulary::kMaximumHoles;
  for (const auto& [text, value] : node.value->items()) {
    const content::JsonNode member{&value, node.pointer + "/" + text};
    SHOAL_ASSIGN_OR_RETURN(const std::int32_t id, member.Id());
    const auto place = static_cast<std::size_t>(id);
    if (text.empty()) return node.Wrong("has an empty token");
    if (place >= limit) {
      return member.Wrong("is " + std::to_string(id) + ", too far past the number of tokens, " +
                          std::to_string(node.value->size()));
    }
    if (place >= texts.size()) texts.resize(place + 1);
    if (!texts[place].empty()) return member.Wrong("has the id of \"" + texts[place] + "\"");
    texts[place] = text;
    ids.emplace(text, id);
  }
  return ids;
}

namespace {

absl::StatusOr<MergeRule> ReadMerge(const content::JsonNode& node, const IdByText& ids) {
  if (node.value->is_array() && node.value->size() == 2) {
    SHOAL_ASSIGN_OR_RETURN(const std::string left, node.At(std::size_t{0}).String());
    SHOAL_ASSIGN_OR_RETURN(const std::string right, node.At(std::size_t{1}).String());
    auto rule = ResolveMerge(left, right, ids);
    return rule.ok() ? rule : node.Wrong(runtime::Message(rule.status()));
  }
  if (!node.value->is_string()) return node.Wrong("is neither \"a b\" nor [\"a\", \"b\"]");
  auto rule = ParseMerge(node.value->get_ref<const std::string&>(), ids);
  return rule.ok() ? rule : node.Wrong(runtime::Message(rule.status()));
}

}  // namespace

absl::Status ReadMerges(const content::JsonNode& node, const IdByText& ids,
                        std::vector<MergeRule>& rules) {
  if (!node.value->is_array()) return node.Wrong("is no list");
  rules.reserve(node.value->size());
  for (std::size_t i = 0; i < node.value->size(); ++i) {
    const content::JsonNode member = node.At(i);
    const bool is_version = member.value->is_string() &&
                            member.value->get_ref<const std::string&>().starts_with("#version");
    if (is_version) continue;
    SHOAL_ASSIGN_OR_RETURN(const MergeRule rule, ReadMerge(member, ids));
    rules.push_back(rule);
  }
  return absl::OkStatus();
}

absl::Status ReadBpeModel(const content::JsonNode& node, Tokenizer::Parts& parts) {
  if (!node.value->is_object()) return node.Wrong("is no object");
  const content::JsonNode type = node.At("type");
  if (!type.value->is_null() && *type.value != "BPE") {
    return type.Wrong("is " + type.value->dump() + "; only \"BPE\" is supported");
  }
  const content::JsonNode dropout = node.At("dropout");
  if (!dropout.value->is_null() && *dropout.value != 0.0) {
    return dropout.Wrong("is neither null nor 0");
  }
  SHOAL_RETURN_IF_ERROR(node.At("continuing_subword_prefix").RequireEmptyString());
  SHOAL_RETURN_IF_ERROR(node.At("end_of_word_suffix").RequireEmptyString());
  SHOAL_RETURN_IF_ERROR(node.At("byte_fallback").RequireFalse());
  SHOAL_ASSIGN_OR_RETURN(parts.ignore_merges, node.At("ignore_merges").Bool(false));
  SHOAL_ASSIGN_OR_RETURN(const IdByText ids, ReadVocabulary(node.At("vocab"), parts.vocabulary));
  return ReadMerges(node.At("merges"), ids, parts.merges);
}

namespace {

constexpr std::array<std::string_view, 9> kMembers = {
    "version",       "truncation",     "padding", "added_tokens", "normalizer",
    "pre_tokenizer", "post_processor", "decoder", "model"};

absl::StatusOr<std::shared_ptr<const Pattern>> PatternOf(const content::JsonNode& node) {
  const content::JsonNode regex = node.At("Regex");
  const content::JsonNode literal = node.At("String");
  if (regex.value->is_null() == literal.value->is_null()) {
    return node.Wrong("is neither {\"Regex\": ...} nor {\"String\": ...}");
  }
  const bool is_regex = literal.value->is_null();
  const content::JsonNode& chosen = is_regex ? regex : literal;
  SHOAL_ASSIGN_OR_RETURN(const std::string text, chosen.String());
  auto pattern = is_regex ? Pattern::Compile(text) : Pattern::Literal(text);
  if (!pattern.ok()) return chosen.Wrong("cannot be used: " + runtime::Message(pattern.status()));
  return pattern;
}

absl::Status ReadNormalizer(const content::JsonNode& node, std::vector<Normalizer::Step>& steps) {
  if (node.value->is_null()) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const std::string type, node.Type());
  if (type == "Sequence") {
    SHOAL_ASSIGN_OR_RETURN(const content::JsonNode list, node.List("normalizers"));
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

absl::StatusOr<PreTokenizer::Split> ReadSplit(const content::JsonNode& node) {
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

// `has_bytes` tells whether ByteLevel was read; nothing may follow it.
absl::Status ReadPreTokenizer(const content::JsonNode& node, PreTokenizer::Options& options,
                              bool& has_bytes) {
  SHOAL_ASSIGN_OR_RETURN(const std::string type, node.Type());
  if (has_bytes) return node.Wrong("follows ByteLevel, which is not supported");
  if (type == "Sequence") {
    SHOAL_ASSIGN_OR_RETURN(const content::JsonNode list, node.List("pretokenizers"));
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

// `key` is the name of the list in a Sequence.
absl::Status RequireByteLevel(const content::JsonNode& node, const std::string& key) {
  SHOAL_ASSIGN_OR_RETURN(const std::string type, node.Type());
  if (type == "ByteLevel") return absl::OkStatus();
  if (type != "Sequence") return node.Wrong("is of type " + type + ", which is not supported");
  SHOAL_ASSIGN_OR_RETURN(const content::JsonNode list, node.List(key));
  for (std::size_t i = 0; i < list.value->size(); ++i) {
    SHOAL_RETURN_IF_ERROR(RequireByteLevel(list.At(i), key));
  }
  return list.value->empty() ? list.Wrong("is empty") : absl::OkStatus();
}

absl::StatusOr<AddedToken> ReadAddedToken(const content::JsonNode& node) {
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

}  // namespace

absl::StatusOr<std::vector<AddedToken>> ReadAddedTokens(const content::JsonNode& node) {
  if (!node.value->is_null() && !node.value->is_array()) return node.Wrong("is no list");
  std::vector<AddedToken> tokens;
  for (std::size_t i = 0; i < node.value->size(); ++i) {
    SHOAL_ASSIGN_OR_RETURN(AddedToken token, ReadAddedToken(node.At(i)));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

namespace {

absl::StatusOr<Tokenizer::Parts> ReadParts(const content::JsonNode& document) {
  if (!document.value->is_object()) return document.Wrong("is no object");
  for (const auto& [name, value] : document.value->items()) {
    if (std::find(kMembers.begin(), kMembers.end(), name) == kMembers.end()) {
      return document.At(name).Wrong("is no member of a tokenizer");
    }
  }
  Tokenizer::Parts parts;
  const content::JsonNode version = document.At("version");
  if (!version.value->is_null() && *version.value != "1.0") {
    return version.Wrong("is " + version.value->dump() + ", not \"1.0\"");
  }
  SHOAL_RETURN_IF_ERROR(document.At("truncation").RequireNull());
  SHOAL_RETURN_IF_ERROR(document.At("padding").RequireNull());
  SHOAL_RETURN_IF_ERROR(ReadBpeModel(document.At("model"), parts));

  SHOAL_ASSIGN_OR_RETURN(parts.added_tokens, ReadAddedTokens(document.At("added_tokens")));
  std::vector<Normalizer::Step> steps;
  SHOAL_RETURN_IF_ERROR(ReadNormalizer(document.At("normalizer"), steps));
  parts.normalizer = Normalizer(std::move(steps));

  PreTokenizer::Options options;
  bool has_bytes = false;
  const content::JsonNode pre_tokenizer = document.At("pre_tokenizer");
  SHOAL_RETURN_IF_ERROR(ReadPreTokenizer(pre_tokenizer, options, has_bytes));
  if (!has_bytes) return pre_tokenizer.Wrong("has no ByteLevel: texts would not become bytes");
  parts.pre_tokenizer = PreTokenizer(std::move(options));

  const content::JsonNode post_processor = document.At("post_processor");
  if (!post_processor.value->is_null()) {
    SHOAL_RETURN_IF_ERROR(RequireByteLevel(post_processor, "processors"));
  }
  SHOAL_RETURN_IF_ERROR(RequireByteLevel(document.At("decoder"), "decoders"));
  return parts;
}

absl::StatusOr<std::shared_ptr<const Tokenizer>> Parse(std::string_view text) {
  SHOAL_ASSIGN_OR_RETURN(const nlohmann::json document, content::ParseJsonDocument(text));
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

// Each token has a line of its own, so that two files compare well.
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

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kPairs = {
    {{"encoder.json", "vocab.bpe"}, {"vocab.json", "merges.txt"}}};

bool Exists(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

absl::Status ReadVocabularyFile(const std::string& path, IdByText& ids,
                                std::vector<std::string>& texts) {
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(path, kMaximumTokenizerFile));
  const auto document = content::ParseJsonDocument(bytes);
  if (!document.ok()) return runtime::Annotate(document.status(), path);
  auto read = ReadVocabulary({&*document, ""}, texts);
  if (!read.ok()) return runtime::Annotate(read.status(), path);
  ids = *std::move(read);
  return absl::OkStatus();
}

absl::Status ReadMergesFile(const std::string& path, const IdByText& ids,
                            std::vector<MergeRule>& rules) {
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(path, kMaximumTokenizerFile));
  std::string_view rest = bytes;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    const auto rule = ParseMerge(line, ids);
    if (!rule.ok()) {
      return runtime::InvalidArgument(path + ": line " + std::to_string(number) + " " +
                                      runtime::Message(rule.status()));
    }
    rules.push_back(*rule);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Tokenizer>> LoadTokenizer(const std::string& path) {
  std::error_code error;
  const std::filesystem::path folder(path);
  std::string file = path;
  if (std::filesystem::is_directory(folder, error)) {
    file = (folder / "tokenizer.json").string();
    for (const auto& [vocabulary, merges] : kPairs) {
      if (Exists(file)) break;
      if (!Exists(folder / vocabulary)) continue;
      return LoadGpt2Files((folder / vocabulary).string(), (folder / merges).string());
    }
  }
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(file, kMaximumTokenizerFile));
  return ParseTokenizerJson(bytes, file);
}

absl::StatusOr<std::shared_ptr<const Tokenizer>> LoadGpt2Files(const std::string& vocabulary_path,
                                                               const std::string& merges_path) {
  Tokenizer::Parts parts;
  IdByText ids;
  SHOAL_RETURN_IF_ERROR(ReadVocabularyFile(vocabulary_path, ids, parts.vocabulary));
  SHOAL_RETURN_IF_ERROR(ReadMergesFile(merges_path, ids, parts.merges));
  const auto end_of_text = ids.find(std::string(kEndOfText));
  if (end_of_text != ids.end()) {
    parts.added_tokens.push_back(
        {.id = end_of_text->second, .content = std::string(kEndOfText), .special = true});
  }
  auto tokenizer = Tokenizer::Create(std::move(parts));
  if (!tokenizer.ok()) return runtime::Annotate(tokenizer.status(), vocabulary_path);
  return tokenizer;
}

absl::Status SaveTokenizer(const Tokenizer& tokenizer, const std::string& path) {
  return runtime::WriteFileAtomically(path, TokenizerJson(tokenizer));
}

}  // namespace shoal::tokens
