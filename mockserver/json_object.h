// SPDX-License-Identifier: Apache-2.0
// The members of a JSON object that a person or a program wrote for us. All errors are
// INVALID_ARGUMENT and name the member.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "mockserver/message.h"
#include "runtime/status.h"

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

struct IntegerRange {
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  // When the member is absent.
  std::int64_t absent = 0;
};
absl::StatusOr<std::int64_t> IntegerMember(const Json& object, const std::string& name,
                                           IntegerRange range);

}  // namespace shoal::mockserver
