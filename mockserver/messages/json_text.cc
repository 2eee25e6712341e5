// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/json_text.h"

#include <array>
#include <charconv>
#include <string_view>

#include "platform/content/plain_text.h"

namespace shoal::mockserver {
namespace {

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void AppendQuoted(std::string& text, const std::string& value) {
  if (!content::IsPlain(value)) {
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
        AppendMember(text, name, value);
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

void AppendMember(std::string& text, const std::string& name, const Json& value) {
  AppendQuoted(text, name);
  text.push_back(':');
  AppendText(text, value);
}

}  // namespace shoal::mockserver
