// SPDX-License-Identifier: Apache-2.0
#include "text/lexical/text_object.h"

#include <utility>

namespace shoal::tokens {
namespace {

constexpr std::size_t kMaxJsonBytes = std::size_t{1} << 20;

}  // namespace

nlohmann::json ObjectOf(std::string_view text) {
  using nlohmann::json;
  if (!text.starts_with('{') || text.size() > kMaxJsonBytes) return nullptr;
  const json::parser_callback_t keep_shallow = [](int depth, json::parse_event_t, json&) {
    return depth <= static_cast<int>(kMaxTextDepth);
  };
  json parsed = json::parse(text.begin(), text.end(), keep_shallow, /*allow_exceptions=*/false);
  return parsed.is_object() ? std::move(parsed) : json();
}

bool IsCandidate(const nlohmann::json& object) {
  const auto is_text = [&object](const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string();
  };
  return object.is_object() && is_text("method") && is_text("uri");
}

const std::string* ChoiceOf(const nlohmann::json& object) {
  if (!object.is_object() || object.size() != 1) return nullptr;
  const auto found = object.find("choice");
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

}  // namespace shoal::tokens
