// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema/allowable_values.h"

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

const Json* ArrayAt(const Json& object, const std::string& name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? &*found : nullptr;
}

}  // namespace

const Json* AllowableValues(const Json& object, const std::string& name) {
  return ArrayAt(object, name + std::string(kAllowableValues));
}

const Json* AllowableValues(const Json& action, const std::string& parameter,
                            const FindResource& find) {
  if (const Json* beside = AllowableValues(action, parameter)) return beside;
  const std::string info = TextAt(action, "@Redfish.ActionInfo");
  const Json* const described = info.empty() ? nullptr : find(CanonicalUri(info));
  const Json* const parameters = described == nullptr ? nullptr : ArrayAt(*described, "Parameters");
  if (parameters == nullptr) return nullptr;
  for (const Json& entry : *parameters) {
    if (TextAt(entry, "Name") == parameter) return ArrayAt(entry, "AllowableValues");
  }
  return nullptr;
}

}  // namespace shoal::redfish
