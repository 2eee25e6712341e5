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

std::optional<GoalText> GoalOf(const nlohmann::json& object) {
  if (!object.is_object() || object.size() != 2) return std::nullopt;
  const auto goal = object.find("goal");
  const auto around = object.find("around");
  if (goal == object.end() || around == object.end() || !goal->is_string() || !around->is_array()) {
    return std::nullopt;
  }
  GoalText text = {.sentence = goal->get_ptr<const std::string*>(), .around = {}};
  for (const nlohmann::json& words : *around) {
    if (!words.is_string()) return std::nullopt;
    text.around.push_back(words.get_ptr<const std::string*>());
  }
  return text;
}

TextKind KindOf(std::string_view text) {
  const nlohmann::json object = ObjectOf(text);
  if (!object.is_object()) return TextKind::kSentence;
  if (IsCandidate(object)) return TextKind::kCandidate;
  if (ChoiceOf(object) != nullptr) return TextKind::kChoice;
  return GoalOf(object) ? TextKind::kGoal : TextKind::kBody;
}

}  // namespace shoal::tokens
