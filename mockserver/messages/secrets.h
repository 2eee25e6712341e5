// SPDX-License-Identifier: Apache-2.0
// What no response shows: properties that the schema lets clients write and nobody read, such as
// passwords and keys (DSP0266, "Permissions": write-only properties are null in responses).
#pragma once

#include <string>
#include <string_view>

#include "mockserver/messages/message.h"

namespace shoal::redfish {
class Schema;
}

namespace shoal::mockserver {

// Makes null what is secret in `value`, which stands at `pointer` of a resource of `odata_type`, at
// any depth.
void HideSecrets(const redfish::Schema& schema, std::string_view odata_type,
                 const std::string& pointer, Json& value);

}  // namespace shoal::mockserver
