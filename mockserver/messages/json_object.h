// SPDX-License-Identifier: Apache-2.0
// The members of a JSON object that a person or a program wrote for us. All errors are
// INVALID_ARGUMENT and name the member.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mockserver/messages/message.h"
#include "platform/runtime/status.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {

// `json` is an object, and has no members but `known`.
absl::Status CheckMembers(const Json& json, std::initializer_list<std::string_view> known);

// The text that `object` has under `name`; empty when absent.
absl::StatusOr<std::string> TextMember(const Json& object, const std::string& name);
// The same for a text that must be there and not be empty.
absl::StatusOr<std::string> NeededText(const Json& object, const std::string& name);

// What people call things by: 1 to 64 letters, digits, '-', '_' and '.'.
bool IsName(std::string_view text);
// The same for a name, which must be there.
absl::StatusOr<std::string> NameMember(const Json& object, const std::string& name);

// Whether the text under `name` is `second`; false when it is `first`, or absent.
absl::StatusOr<bool> IsSecond(const Json& object, const std::string& name, std::string_view first,
                              std::string_view second);

struct IntegerRange {
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  // When the member is absent.
  std::int64_t absent = 0;
};
absl::StatusOr<std::int64_t> IntegerMember(const Json& object, const std::string& name,
                                           IntegerRange range);

// The items of the array under `plural`, each read by `read`, which returns absl::StatusOr<Item>.
// At most `maximum`, whose names, `name_of(item)`, differ. An error calls an item by `singular` and
// its "name", or its place when it has none.
template <typename Read, typename NameOf>
auto ReadNamed(const Json& object, const std::string& plural, const std::string& singular,
               std::size_t maximum, const Read& read, const NameOf& name_of)
    -> absl::StatusOr<std::vector<typename decltype(read(object))::value_type>> {
  const auto list = object.find(plural);
  if (list == object.end() || !list->is_array() || list->size() > maximum) {
    return runtime::InvalidArgument("\"" + plural + "\" is an array of at most " +
                                    std::to_string(maximum) + " " + plural);
  }
  std::vector<typename decltype(read(object))::value_type> items;
  std::set<std::string> names;
  for (const Json& one : *list) {
    const std::string name = redfish::TextAt(one, "name");
    const std::string called =
        singular + " " + (name.empty() ? "#" + std::to_string(items.size()) : name);
    auto item = read(one);
    if (!item.ok()) return runtime::Annotate(item.status(), called);
    if (!names.insert(name_of(*item)).second) {
      return runtime::InvalidArgument(called + ": another has this \"name\"");
    }
    items.push_back(*std::move(item));
  }
  return items;
}

}  // namespace shoal::mockserver
