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
  const nlohmann::json* const root = capture.Find(kServiceRoot);
  const nlohmann::json* const offered =
      root == nullptr ? nullptr : Resolve(*root, "/ProtocolFeaturesSupported/ExpandQuery/NoLinks");
  expands_ = offered != nullptr && *offered == true;
  const nlohmann::json* const link = root == nullptr ? nullptr : Resolve(*root, "/Tasks");
  const nlohmann::json* const tasks = link == nullptr ? nullptr : capture.Find(LinkTarget(*link));
  const nlohmann::json* const collection = tasks == nullptr ? nullptr : Resolve(*tasks, "/Tasks");
  has_tasks_ = collection != nullptr && capture.Find(LinkTarget(*collection)) != nullptr;
  for (std::string& uri : DanglingMembers(capture.resources())) dangling_.insert(std::move(uri));
  AddAttributes(capture);
  AddReferences(capture);
}

void ServiceOutline::AddAttributes(const Capture& capture) {
  std::map<std::string, std::shared_ptr<const AttributeRegistry>> registries;
  for (const auto& [uri, resource] : capture.resources()) {
    const auto values = resource.find("Attributes");
    const std::string id = TextAt(resource, "AttributeRegistry");
    if (values == resource.end() || !values->is_object() || values->empty()) continue;
    if (id.empty() && !TextAt(resource, "@odata.type").starts_with("#Bios.")) continue;
    const auto [known, is_new] = registries.try_emplace(id);
    if (is_new && !id.empty()) {
      if (auto registry = FindAttributeRegistry(capture, id)) {
        known->second = std::make_shared<const AttributeRegistry>(*std::move(registry));
      }
    }
    const nlohmann::json* const link = Resolve(resource, "/@Redfish.Settings/SettingsObject");
    const std::string settings = link == nullptr ? std::string() : LinkTarget(*link);
    // A settings object names the registry too, but it has no settings object of its own.
    if (settings.empty() && attributes_.contains(uri)) continue;
    attributes_[settings.empty() ? uri : settings] = {uri, *values, known->second};
  }
}

void ServiceOutline::AddReferences(const Capture& capture) {
  for (const auto& [collection, type] : member_types_) {
    const std::size_t slash = collection.rfind('/');
    const nlohmann::json* const above =
        slash == std::string::npos ? nullptr : capture.Find(collection.substr(0, slash));
    if (above == nullptr) continue;
    for (const auto& [name, value] : above->items()) {
      if (!value.is_array()) continue;
      for (const std::string& uri : LinkTargets(&value)) {
        const nlohmann::json* const target = capture.Find(uri);
        if (target == nullptr) continue;
        references_[collection].push_back(
            {TextAt(*target, "@odata.type"), {uri, TextAt(*target, "Name")}});
      }
    }
  }
}

const ServiceOutline::Attributes* ServiceOutline::FindAttributes(const std::string& uri) const {
  const auto found = attributes_.find(uri);
  return found == attributes_.end() ? nullptr : &found->second;
}

std::vector<ServiceOutline::Reference> ServiceOutline::References(const std::string& collection,
                                                                  std::string_view type) const {
  std::vector<Reference> references;
  const auto found = references_.find(collection);
  if (found == references_.end()) return references;
  const std::string prefix = "#" + std::string(type.substr(0, type.find('.'))) + ".";
  for (const TypedReference& typed : found->second) {
    if (typed.type.starts_with(prefix)) references.push_back(typed.reference);
  }
  return references;
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
