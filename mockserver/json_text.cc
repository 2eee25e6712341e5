// SPDX-License-Identifier: Apache-2.0
#include "mockserver/json_text.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace shoal::mockserver {
namespace {

using Word = std::uint64_t;
constexpr Word kEach = 0x0101010101010101;
constexpr Word kHigh = 0x80 * kEach;

// Whether a byte of the word is less than `limit`, at most 0x80; only asked where none is above it.
constexpr Word Below(Word word, Word limit) { return (word - limit * kEach) & ~word & kHigh; }

// Whether a byte of the word does not stand for itself between quotes: control characters, quotes,
// backslashes, and what is no ASCII.
bool HasSpecial(Word word) {
  return ((word & kHigh) | Below(word, 0x20) | Below(word ^ ('"' * kEach), 1) |
          Below(word ^ ('\\' * kEach), 1)) != 0;
}

bool IsPlain(std::string_view text) {
  Word word = 0;
  for (; text.size() >= sizeof(word); text.remove_prefix(sizeof(word))) {
    std::memcpy(&word, text.data(), sizeof(word));
    if (HasSpecial(word)) return false;
  }
  word = ' ' * kEach;
  std::memcpy(&word, text.data(), text.size());
  return !HasSpecial(word);
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void AppendQuoted(std::string& text, const std::string& value) {
  if (!IsPlain(value)) {
    text.append(Dump(Json(value)));
    return;
  }
  text.push_back('"');
  text.append(value);
  text.push_back('"');
}

template <typename Integer>
void AppendInteger(std::string& text, Integer value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), end);
}

}  // namespace

void AppendText(std::string& text, const Json& json) {
  const char* separator = "";
  switch (json.type()) {
    case Json::value_t::object:
      text.push_back('{');
      for (const auto& [name, value] : json.get_ref<const Json::object_t&>()) {
        text.append(separator);
        separator = ",";
        AppendQuoted(text, name);
        text.push_back(':');
        AppendText(text, value);
      }
      text.push_back('}');
      break;
    case Json::value_t::array:
      text.push_back('[');
      for (const Json& value : json.get_ref<const Json::array_t&>()) {
        text.append(separator);
        separator = ",";
        AppendText(text, value);
      }
      text.push_back(']');
      break;
    case Json::value_t::string:
      AppendQuoted(text, json.get_ref<const std::string&>());
      break;
    case Json::value_t::boolean:
      text.append(json.get<bool>() ? "true" : "false");
      break;
    case Json::value_t::null:
      text.append("null");
      break;
    case Json::value_t::number_integer:
      AppendInteger(text, json.get<std::int64_t>());
      break;
    case Json::value_t::number_unsigned:
      AppendInteger(text, json.get<std::uint64_t>());
      break;
    default:
      text.append(Dump(json));
  }
}

}  // namespace shoal::mockserver
