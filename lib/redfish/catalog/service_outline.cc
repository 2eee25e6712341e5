// SPDX-License-Identifier: Apache-2.0
#include "redfish/catalog/service_outline.h"

#include "redfish/capture/dangling_members.h"
#include "redfish/capture/uri.h"
#include "redfish/catalog/membership.h"

namespace shoal::redfish {

ServiceOutline::ServiceOutline(const Capture& capture, const Schema& schema) {
  for (const auto& [uri, resource] : capture.resources()) {
    uris_.insert(uri);
    const std::string type = TextAt(resource, "@odata.type");
    if (!schema.MemberType(type).empty()) {
      member_types_[uri] = redfish::MemberType(capture, schema, resource);
      const std::vector<std::string> slots = AccountSlots(capture, resource);
      if (!slots.empty()) fixed_.insert(uri);
      fixed_.insert(slots.begin(), slots.end());
    } else if (type.starts_with("#Role.")) {
      // Older versions have no RoleId; the Id is used instead.
      std::string id = TextAt(resource, "RoleId");
      role_ids_.push_back(id.empty() ? TextAt(resource, "Id") : std::move(id));
    } else if (type.starts_with("#ActionInfo.")) {
      action_infos_[uri] = resource;
    }
  }
  for (std::string& uri : DanglingMembers(capture.resources())) dangling_.insert(std::move(uri));
}

bool ServiceOutline::IsFixed(const std::string& uri, std::string_view odata_type) const {
  return IsHardware(odata_type) || fixed_.contains(uri);
}

std::string ServiceOutline::MemberType(const std::string& collection) const {
  const auto found = member_types_.find(collection);
  return found == member_types_.end() ? std::string() : found->second;
}

const nlohmann::json* ServiceOutline::FindActionInfo(const std::string& uri) const {
  const auto found = action_infos_.find(uri);
  return found == action_infos_.end() ? nullptr : &found->second;
}

}  // namespace shoal::redfish
