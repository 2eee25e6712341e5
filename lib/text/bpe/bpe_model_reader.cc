// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/bpe_model_reader.h"

#include <utility>

namespace shoal::tokens {

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

absl::StatusOr<IdByText> ReadVocabulary(const JsonNode& node, std::vector<std::string>& texts) {
  if (!node.value->is_object()) return node.Wrong("is no object");
  IdByText ids;
  ids.reserve(node.value->size());
  const std::size_t limit = node.value->size() + Vocabulary::kMaximumHoles;
  for (const auto& [text, value] : node.value->items()) {
    const JsonNode member{&value, node.pointer + "/" + text};
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

absl::StatusOr<MergeRule> ReadMerge(const JsonNode& node, const IdByText& ids) {
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

absl::Status ReadMerges(const JsonNode& node, const IdByText& ids, std::vector<MergeRule>& rules) {
  if (!node.value->is_array()) return node.Wrong("is no list");
  rules.reserve(node.value->size());
  for (std::size_t i = 0; i < node.value->size(); ++i) {
    const JsonNode member = node.At(i);
    const bool is_version = member.value->is_string() &&
                            member.value->get_ref<const std::string&>().starts_with("#version");
    if (is_version) continue;
    SHOAL_ASSIGN_OR_RETURN(const MergeRule rule, ReadMerge(member, ids));
    rules.push_back(rule);
  }
  return absl::OkStatus();
}

absl::Status ReadBpeModel(const JsonNode& node, Tokenizer::Parts& parts) {
  if (!node.value->is_object()) return node.Wrong("is no object");
  const JsonNode type = node.At("type");
  if (!type.value->is_null() && *type.value != "BPE") {
    return type.Wrong("is " + type.value->dump() + "; only \"BPE\" is supported");
  }
  const JsonNode dropout = node.At("dropout");
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

}  // namespace shoal::tokens
