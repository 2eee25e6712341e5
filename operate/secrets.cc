// SPDX-License-Identifier: Apache-2.0
#include "operate/secrets.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "redfish/capture/redaction.h"
#include "redfish/capture/uri.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

bool NamesSecret(std::string_view name) { return redfish::IsSecretName(name, {}); }

Json HideAll(const Secrets& secrets, const Json& json, bool is_secret) {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    for (const auto& [name, value] : secrets.values()) {
      if (text == value) return "{" + name + "}";
    }
    if (is_secret && !text.empty()) return std::string(redfish::kRedacted);
    return secrets.HideIn(text);
  }
  if (!json.is_structured()) return json;
  Json hidden = json;
  for (auto& item : hidden.items()) {
    const bool below = is_secret || (json.is_object() && NamesSecret(item.key()));
    item.value() = HideAll(secrets, item.value(), below);
  }
  return hidden;
}

}  // namespace

Secrets::Secrets(std::map<std::string, std::string> values) : values_(std::move(values)) {
  std::erase_if(values_, [](const auto& item) { return item.second.empty(); });
}

Json Secrets::Hide(const Json& json, std::string_view pointer) const {
  bool is_secret = false;
  for (const std::string& token : redfish::PointerTokens(pointer)) {
    is_secret = is_secret || NamesSecret(token);
  }
  return HideAll(*this, json, is_secret);
}

std::string Secrets::HideIn(std::string text) const {
  // A secret may be part of another one.
  std::vector<std::pair<std::string, std::string>> longest_first(values_.begin(), values_.end());
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  for (const auto& [name, value] : longest_first) {
    const std::string shown = "{" + name + "}";
    for (std::size_t at = text.find(value); at != std::string::npos;
         at = text.find(value, at + shown.size())) {
      text.replace(at, value.size(), shown);
    }
  }
  return text;
}

std::optional<Secrets> Secrets::Recall(std::string_view hidden, std::string_view text) {
  std::map<std::string, std::string> found;
  while (true) {
    const std::size_t open = hidden.find('{');
    const std::string_view before = hidden.substr(0, open);
    if (!text.starts_with(before)) return std::nullopt;
    text.remove_prefix(before.size());
    if (open == hidden.npos) break;
    const std::size_t close = hidden.find('}', open);
    if (close == hidden.npos) return std::nullopt;
    const std::string name(hidden.substr(open + 1, close - open - 1));
    hidden.remove_prefix(close + 1);
    const std::size_t next = hidden.find('{');
    const std::string_view behind = hidden.substr(0, next);
    std::size_t end = text.find(behind);
    if (next == hidden.npos) {
      end = text.ends_with(behind) ? text.size() - behind.size() : text.npos;
    }
    if (end == text.npos) return std::nullopt;
    const std::string value(text.substr(0, end));
    if (found.try_emplace(name, value).first->second != value) return std::nullopt;
    text.remove_prefix(end);
  }
  if (!text.empty()) return std::nullopt;
  return Secrets(std::move(found));
}

absl::StatusOr<Json> Secrets::Show(const Json& json) const {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    if (text == redfish::kRedacted) {
      return runtime::FailedPrecondition("the log does not hold a secret that the plan needs");
    }
    std::string shown = text;
    for (const auto& [name, value] : values_) {
      const std::string hidden = "{" + name + "}";
      for (std::size_t at = shown.find(hidden); at != std::string::npos;
           at = shown.find(hidden, at + value.size())) {
        shown.replace(at, hidden.size(), value);
      }
    }
    return Json(shown);
  }
  if (!json.is_structured()) return json;
  Json shown = json;
  for (auto& item : shown) {
    SHOAL_ASSIGN_OR_RETURN(item, Show(item));
  }
  return shown;
}

}  // namespace shoal::operate
