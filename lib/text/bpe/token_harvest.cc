// SPDX-License-Identifier: Apache-2.0
#include "text/bpe/token_harvest.h"

#include <algorithm>
#include <utility>

#include "platform/content/canonical_json.h"

namespace shoal::tokens {
namespace {

using nlohmann::json;

constexpr std::string_view kAllowableValues = "@Redfish.AllowableValues";
constexpr std::string_view kSettings = "@Redfish.Settings";

std::int64_t BytesSaved(const TokenHarvest::Found& found) {
  return found.count * static_cast<std::int64_t>(found.text.size());
}

// Returns the closing quote of the string whose opening quote stands before `at`.
std::size_t StringEnd(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at, text.size());
}

bool IsStructure(char c) {
  return c == '"' || c == ':' || c == ',' || c == '{' || c == '}' || c == '[' || c == ']';
}

}  // namespace

void TokenHarvest::Add(const json& document) {
  AddValue(document);
  AddStructure(content::CanonicalJson(document));
}

void TokenHarvest::AddValue(const json& value) {
  if (value.is_array()) {
    for (const json& element : value) AddValue(element);
  }
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.items()) AddMember(name, member);
}

void TokenHarvest::AddMember(const std::string& name, const json& value) {
  if (name == "@odata.id" || name == "target") AddText(value, Kind::kUri);
  if (name == "@odata.type") AddText(value, Kind::kType);
  if (name == "@odata.context") AddText(value, Kind::kContext);
  if (name == "Actions" && value.is_object()) {
    for (const auto& [action, unused] : value.items()) {
      if (action.starts_with('#')) AddText(action, Kind::kAction);
    }
  }
  if (name.ends_with(kAllowableValues)) {
    AddText(name, Kind::kAllowable);
    if (value.is_array()) {
      for (const json& element : value) AddText(element, Kind::kAllowable);
    }
  }
  if (name == kSettings && value.is_object()) {
    AddText(name, Kind::kSettings);
    for (const auto& [setting, unused] : value.items()) AddText(setting, Kind::kSettings);
  }
  AddValue(value);
}

void TokenHarvest::AddText(const json& text, Kind kind) {
  if (!text.is_string()) return;
  const std::string quoted = content::CanonicalJson(text);
  Found& found = found_[quoted.substr(1, quoted.size() - 2)];
  found.kind = found.count == 0 ? kind : std::min(found.kind, kind);
  ++found.count;
}

// A run of structure begins with the quote that closes a string, or after a number. It ends with
// the quote that opens the next string, or before a number.
void TokenHarvest::AddStructure(std::string_view canonical) {
  std::size_t run = 0;
  const auto note = [&](std::size_t end) {
    if (end < run + 2) return;
    Found& found = found_[std::string(canonical.substr(run, end - run))];
    found.kind = Kind::kStructure;
    ++found.count;
  };
  for (std::size_t at = 0; at < canonical.size();) {
    if (canonical[at] == '"') {
      note(at + 1);
      run = StringEnd(canonical, at + 1);
      at = run + 1;
    } else if (IsStructure(canonical[at])) {
      ++at;
    } else {
      note(at);
      while (at < canonical.size() && !IsStructure(canonical[at])) ++at;
      run = at;
    }
  }
  note(canonical.size());
}

std::vector<TokenHarvest::Found> TokenHarvest::Best(const Options& options) const {
  std::vector<Found> best;
  for (const auto& [text, found] : found_) {
    if (found.count < options.minimum_count || text.size() < options.minimum_length) continue;
    best.push_back({text, found.kind, found.count});
  }
  std::sort(best.begin(), best.end(), [](const Found& a, const Found& b) {
    return BytesSaved(a) != BytesSaved(b) ? BytesSaved(a) > BytesSaved(b) : a.text < b.text;
  });
  if (best.size() > options.limit) best.resize(options.limit);
  return best;
}

std::vector<AddedToken> TokenHarvest::Tokens(const std::vector<Found>& found,
                                             const Tokenizer& tokenizer) {
  std::vector<AddedToken> tokens;
  std::vector<std::int32_t> ids;
  for (const Found& one : found) {
    ids.clear();
    const bool known = tokenizer.Encode(one.text, ids).ok() && ids.size() == 1;
    if (known) continue;
    tokens.push_back({.content = one.text, .single_word = one.kind != Kind::kStructure});
  }
  return tokens;
}

std::string_view KindName(TokenHarvest::Kind kind) {
  switch (kind) {
    case TokenHarvest::Kind::kUri:
      return "uri";
    case TokenHarvest::Kind::kType:
      return "type";
    case TokenHarvest::Kind::kContext:
      return "context";
    case TokenHarvest::Kind::kAction:
      return "action";
    case TokenHarvest::Kind::kAllowable:
      return "allowable";
    case TokenHarvest::Kind::kSettings:
      return "settings";
    case TokenHarvest::Kind::kStructure:
      return "structure";
  }
  return "";
}

}  // namespace shoal::tokens
