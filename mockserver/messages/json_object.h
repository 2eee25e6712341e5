// SPDX-License-Identifier: Apache-2.0
// Strict reading of the members of a JSON object that a person or a program wrote. All errors are
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

// Checks that `json` is an object and has no members other than `known`.
absl::Status CheckMembers(const Json& json, std::initializer_list<std::string_view> known);

// Returns the text of the member `name`, or an empty text when the member is absent.
absl::StatusOr<std::string> TextMember(const Json& object, const std::string& name);
// Returns the text of the member `name`, which must be present and not empty.
absl::StatusOr<std::string> NeededText(const Json& object, const std::string& name);

// Returns whether `text` is a name: 1 to 64 letters, digits, '-', '_' and '.'.
bool IsName(std::string_view text);
// Returns the text of the member `name`, which must be present and satisfy IsName.
absl::StatusOr<std::string> NameMember(const Json& object, const std::string& name);

// Returns true when the text of the member `name` is `second`, and false when it is `first` or
// absent.
absl::StatusOr<bool> IsSecond(const Json& object, const std::string& name, std::string_view first,
                              std::string_view second);

struct IntegerRange {
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  // The value of an absent member.
  std::int64_t absent = 0;
};
absl::StatusOr<std::int64_t> IntegerMember(const Json& object, const std::string& name,
                                           IntegerRange range);

// Reads each item of the array `plural` with `read`, which returns absl::StatusOr<Item>. The array
// has at most `maximum` items, whose names, `name_of(item)`, must differ. An error refers to an
// item by `singular` and the item's "name", or by its index when it has no name.
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
