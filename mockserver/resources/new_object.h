// SPDX-License-Identifier: Apache-2.0
// Judges an object that a client makes, by the schema alone: a member for a collection, an element
// for an array.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/message.h"

namespace shoal::redfish {
class Schema;
}

namespace shoal::mockserver {

// A member of a request's body that is wrong, and what to say of it.
struct Problem {
  std::string pointer;
  Json info;
};

// What is wrong with `members`, which stand at `pointer` in a resource of `odata_type`: unknown,
// neither writable nor required to make one, or with a value that does not fit. Members with '@' in
// their name are skipped.
std::vector<Problem> JudgeNewObject(const redfish::Schema& schema, std::string_view odata_type,
                                    const std::string& pointer, const Json& members);

}  // namespace shoal::mockserver
