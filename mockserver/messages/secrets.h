// SPDX-License-Identifier: Apache-2.0
// Secrets that no response shows: properties that the schema lets clients write but not read, such
// as passwords and keys (DSP0266, "Permissions": write-only properties are null in responses).
#pragma once

#include <string>
#include <string_view>

#include "mockserver/messages/message.h"

namespace shoal::redfish {
class Schema;
}

namespace shoal::mockserver {

// Sets every secret inside `value` to null, at any depth. `value` stands at `pointer` of a resource
// of type `odata_type`.
void HideSecrets(const redfish::Schema& schema, std::string_view odata_type,
                 const std::string& pointer, Json& value);

}  // namespace shoal::mockserver
