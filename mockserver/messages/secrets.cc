// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/secrets.h"

#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {

void HideSecrets(const redfish::Schema& schema, std::string_view odata_type,
                 const std::string& pointer, Json& value) {
  const redfish::Property* const property = schema.Find(odata_type, pointer);
  if (property != nullptr && property->write_only) {
    value = nullptr;
  } else if (value.is_object()) {
    for (auto& [name, member] : value.items()) {
      HideSecrets(schema, odata_type, redfish::AppendPointer(pointer, name), member);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      HideSecrets(schema, odata_type, redfish::AppendPointer(pointer, std::to_string(i)), value[i]);
    }
  }
}

}  // namespace shoal::mockserver
