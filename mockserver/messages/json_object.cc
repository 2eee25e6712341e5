// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/json_object.h"

#include <algorithm>

namespace shoal::mockserver {

absl::Status CheckMembers(const Json& json, std::initializer_list<std::string_view> known) {
  if (!json.is_object()) return runtime::InvalidArgument("an object expected");
  for (const auto& [name, value] : json.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return runtime::InvalidArgument("unknown member \"" + name + "\"");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TextMember(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::string();
  if (!found->is_string()) return runtime::InvalidArgument("\"" + name + "\" is a text");
  return found->get<std::string>();
}

absl::StatusOr<std::string> NeededText(const Json& object, const std::string& name) {
  SHOAL_ASSIGN_OR_RETURN(std::string text, TextMember(object, name));
  if (text.empty()) return runtime::InvalidArgument("needs a \"" + name + "\"");
  return text;
}

bool IsName(std::string_view text) {
  constexpr std::size_t kMaximum = 64;
  return !text.empty() && text.size() <= kMaximum &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

absl::StatusOr<std::string> NameMember(const Json& object, const std::string& name) {
  SHOAL_ASSIGN_OR_RETURN(std::string text, NeededText(object, name));
  if (IsName(text)) return text;
  return runtime::InvalidArgument("\"" + name + "\" is up to 64 letters, digits, '-', '_' and '.'");
}

absl::StatusOr<bool> IsSecond(const Json& object, const std::string& name, std::string_view first,
                              std::string_view second) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, TextMember(object, name));
  if (text == first || !object.contains(name)) return false;
  if (text == second) return true;
  return runtime::InvalidArgument("\"" + name + "\" is \"" + std::string(first) + "\" or \"" +
                                  std::string(second) + "\"");
}

absl::StatusOr<std::int64_t> IntegerMember(const Json& object, const std::string& name,
                                           IntegerRange range) {
  const auto found = object.find(name);
  if (found == object.end()) return range.absent;
  constexpr std::uint64_t kMost = static_cast<std::uint64_t>(INT64_MAX);
  const bool is_integer = found->is_number_unsigned() ? found->get<std::uint64_t>() <= kMost
                                                      : found->is_number_integer();
  const std::int64_t value = is_integer ? found->get<std::int64_t>() : 0;
  if (!is_integer || value < range.minimum || value > range.maximum) {
    return runtime::InvalidArgument("\"" + name + "\" is an integer from " +
                                    std::to_string(range.minimum) + " to " +
                                    std::to_string(range.maximum));
  }
  return value;
}

}  // namespace shoal::mockserver
