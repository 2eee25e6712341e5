// SPDX-License-Identifier: Apache-2.0
#include "text/lexical/phrases.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "text/lexical/text_object.h"
#include "text/lexical/words.h"

namespace shoal::tokens {
namespace {

using nlohmann::json;

constexpr float kResourceNameWeight = 0.3F;
constexpr float kHostWeight = 0.5F;
constexpr float kUriPartsWeight = 0.2F;
constexpr std::size_t kMaxPhraseWords = 64;
// The words of identifiers such as device paths tell nothing.
constexpr std::size_t kMaxValueWords = 8;
constexpr std::string_view kCollection = " Collection";
constexpr std::string_view kRoot = "/redfish/v1";

std::string Spelled(std::string_view text, std::size_t limit = kMaxPhraseWords) {
  std::vector<std::string_view> words;
  AppendSpelledWords(text, limit, words);
  std::string spelled;
  for (const std::string_view word : words) {
    if (!spelled.empty()) spelled += ' ';
    spelled += word;
  }
  return spelled;
}

// Returns the bytes up to `bytes`, without a character that is cut in two.
std::string Shortened(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return std::string(text.substr(0, bytes));
}

std::string ValueText(const json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool IsSlot(const json& value) {
  return value.is_string() && value.get_ref<const std::string&>().starts_with("<goal.");
}

// "#ComputerSystem.v1_18_0.ComputerSystem": Computer System.
std::string TypeWords(std::string_view type) {
  const std::size_t dot = type.rfind('.');
  return Spelled(dot == type.npos ? type : type.substr(dot + 1));
}

// Appends "Boot Source Override Target<link>Pxe" for each leaf, with `and` between them.
void AppendSettings(const json& value, std::string_view key, std::string_view link,
                    std::size_t depth, std::string& text) {
  if (depth > kMaxTextDepth || text.size() > kMaxPhraseBytes) return;
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      AppendSettings(member, name, link, depth + 1, text);
    }
    return;
  }
  if (value.is_array() && !value.empty()) {
    for (const json& element : value) AppendSettings(element, key, link, depth + 1, text);
    return;
  }
  if (!text.empty()) text += " and ";
  text += Spelled(key);
  if (!IsSlot(value)) text += std::string(link) + Spelled(ValueText(value), kMaxValueWords);
}

std::string With(const std::string& settings) {
  return settings.empty() ? "" : " with " + settings;
}

std::string MemberText(const json& candidate, const char* key) {
  const auto found = candidate.find(key);
  return found != candidate.end() && found->is_string() ? found->get<std::string>() : "";
}

// "PATCH" and the rest as what is done: "set Asset Tag of Computer System".
std::string DeedOf(const json& candidate) {
  const std::string method = MemberText(candidate, "method");
  const std::string action = MemberText(candidate, "action");
  std::string type = TypeWords(MemberText(candidate, "type"));
  const json body = candidate.value("body", json());
  std::string settings;
  AppendSettings(body.is_object() ? body : json::object(), "", method == "PATCH" ? " to " : " ", 0,
                 settings);
  if (!action.empty()) {
    const std::size_t dot = action.rfind('.');
    return Spelled(dot == action.npos ? action : action.substr(dot + 1)) + " " + type +
           With(settings);
  }
  if (method == "PATCH") return "set " + settings + (settings.empty() ? "" : " of ") + type;
  if (method == "POST") {
    if (type.ends_with(kCollection)) type.resize(type.size() - kCollection.size());
    return "create " + type + With(settings);
  }
  if (method == "GET") {
    const bool expands = MemberText(candidate, "uri").ends_with("?$expand=.");
    return (expands ? "read all of " : "read ") + type;
  }
  if (method == "DELETE") return "delete " + type;
  return Spelled(method) + (type.empty() ? "" : " " + type) + With(settings);
}

std::vector<Phrase> CandidatePhrases(const json& candidate) {
  std::vector<Phrase> phrases = {{DeedOf(candidate), 1}};
  const auto add = [&phrases](std::string text, float weight) {
    if (!text.empty()) phrases.push_back({std::move(text), weight});
  };
  add(Spelled(MemberText(candidate, "name")), kResourceNameWeight);
  add(Spelled(MemberText(candidate, "host")), kHostWeight);
  std::string_view uri;
  const std::string whole = MemberText(candidate, "uri");
  uri = whole;
  if (uri.starts_with(kRoot)) uri.remove_prefix(kRoot.size());
  uri = uri.substr(0, uri.find("/Actions/"));
  std::vector<std::string> parts;
  while (!uri.empty() && parts.size() < kMaxPhrases) {
    const std::size_t end = std::min(uri.find('/'), uri.size());
    std::string part = Spelled(uri.substr(0, end));
    if (!part.empty()) parts.push_back(std::move(part));
    uri.remove_prefix(std::min(end + 1, uri.size()));
  }
  for (std::string& part : parts) {
    add(std::move(part), kUriPartsWeight / static_cast<float>(parts.size()));
  }
  return phrases;
}

void AppendLeaves(const json& value, std::string_view key, std::size_t depth,
                  std::vector<std::pair<std::size_t, std::string>>& leaves) {
  if (depth > kMaxTextDepth) return;
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      if (name.find('@') == std::string::npos) AppendLeaves(member, name, depth + 1, leaves);
    }
  } else if (value.is_array()) {
    for (const json& element : value) AppendLeaves(element, key, depth + 1, leaves);
  } else if (!value.is_null()) {
    const std::string text = ValueText(value);
    if (text.starts_with(kRoot)) return;
    leaves.emplace_back(depth, Spelled(key) + ": " + Spelled(text, kMaxValueWords));
  }
}

std::vector<Phrase> BodyPhrases(const json& body) {
  std::vector<std::pair<std::size_t, std::string>> leaves;
  AppendLeaves(body, "", 0, leaves);
  std::stable_sort(leaves.begin(), leaves.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  leaves.resize(std::min(leaves.size(), kMaxPhrases));
  std::vector<Phrase> phrases;
  for (auto& [depth, text] : leaves) {
    phrases.push_back({Shortened(text, kMaxPhraseBytes),
                       1 / static_cast<float>(std::max<std::size_t>(depth, 1))});
  }
  return phrases;
}

}  // namespace

std::vector<Phrase> SplitIntoPhrases(std::string_view text) {
  const json object = ObjectOf(text);
  if (IsCandidate(object)) return CandidatePhrases(object);
  if (const std::string* const choice = ChoiceOf(object)) {
    return {{Shortened(*choice, kMaxPhraseBytes), 1}};
  }
  if (const auto goal = GoalOf(object)) return {{Shortened(*goal->sentence, kMaxPhraseBytes), 1}};
  if (object.is_object()) return BodyPhrases(object);
  if (text.empty()) return {};
  return {{Shortened(text, kMaxPhraseBytes), 1}};
}

}  // namespace shoal::tokens
