// SPDX-License-Identifier: Apache-2.0
// The JSON object that a text is, if it is one, and the kind of text that it therefore is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::tokens {

inline constexpr std::size_t kMaxTextDepth = 32;

// Returns a null when `text` is no JSON object, is malformed, or is larger than a MiB. JSON nested
// deeper than kMaxTextDepth is left out.
nlohmann::json ObjectOf(std::string_view text);

// Returns whether `object` is a candidate: an object with the texts `method` and `uri`.
bool IsCandidate(const nlohmann::json& object);

// Returns the description of a value that a request may get, such as "value digits after from
// before to": the text `choice` of an object that has nothing else. Null for any other object.
const std::string* ChoiceOf(const nlohmann::json& object);

// A goal's sentence with the words before, between and after the values in it that have to be told
// apart, such as names: {"goal": "drop kim7, set omar17 to Operator", "around": ["drop", "set", "to
// Operator"]}.
struct GoalText {
  const std::string* sentence;
  std::vector<const std::string*> around;
};

// Returns what points into `object`; nothing for any other object.
std::optional<GoalText> GoalOf(const nlohmann::json& object);

enum class TextKind : std::uint8_t {
  // No object that can be read: words, such as a goal without values to be told apart.
  kSentence,
  kGoal,
  kCandidate,
  kChoice,
  // Any other object: what a response holds.
  kBody,
};

// Returns the kind of `text`, by the functions above alone.
TextKind KindOf(std::string_view text);

}  // namespace shoal::tokens
