// SPDX-License-Identifier: Apache-2.0
// Judges an object that a client creates, a member of a collection or an element of an array, by
// the schema alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/message.h"

namespace shoal::redfish {
class Schema;
}

namespace shoal::mockserver {

// A wrong member of a request's body, and the message about it.
struct Problem {
  std::string pointer;
  Json info;
};

// Returns the problems of `members`, which stand at `pointer` in a resource of `odata_type`:
// members that are unknown, that are neither writable nor required on create, or whose value does
// not fit. Members with '@' in their name are skipped.
std::vector<Problem> JudgeNewObject(const redfish::Schema& schema, std::string_view odata_type,
                                    const std::string& pointer, const Json& members);

}  // namespace shoal::mockserver
