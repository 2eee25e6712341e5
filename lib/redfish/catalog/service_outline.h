// SPDX-License-Identifier: Apache-2.0
// The facts about a whole service that the candidates of one resource need: which resources were
// recorded, which can be made and deleted, the member types of collections, and the roles.
//
// The outline copies what it needs, so the capture may be destroyed. Immutable, safe for any number
// of threads.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "redfish/capture/capture.h"
#include "redfish/schema/attribute_registry.h"
#include "redfish/schema/schema.h"

namespace shoal::redfish {

class ServiceOutline {
 public:
  ServiceOutline(const Capture& capture, const Schema& schema);

  // Returns whether the service had the resource when it was recorded.
  bool Has(const std::string& uri) const { return uris_.contains(uri); }
  // Returns whether a collection listed the resource and the service did not have it.
  bool IsDangling(const std::string& uri) const { return dangling_.contains(uri); }
  // Returns whether the resource is never deleted and no members are made in it, whatever the
  // schema says of its type.
  bool IsFixed(const std::string& uri, std::string_view odata_type) const;
  // Returns the type of new members of the collection; empty when it is unknown.
  std::string MemberType(const std::string& collection) const;
  // Whether the service says that it expands what is subordinate to a resource
  // (ProtocolFeaturesSupported.ExpandQuery.NoLinks).
  bool expands() const { return expands_; }
  // Whether the service has a collection of tasks.
  bool has_tasks() const { return has_tasks_; }
  // The Ids of the roles that accounts may have.
  const std::vector<std::string>& role_ids() const { return role_ids_; }
  // Free-form attributes, such as those of a BIOS, as PATCH of a resource may set them.
  struct Attributes {
    // The URI of the resource that has them.
    std::string holder;
    // The present values by name.
    nlohmann::json values;
    // Null when the service has no registry of them.
    std::shared_ptr<const AttributeRegistry> registry;
  };
  // Returns the attributes that PATCH of the resource sets: its own, or when it is a settings
  // object, those of the resource whose settings it holds. Returns null for a resource without
  // attributes, and for one whose attributes are set through its settings object.
  const Attributes* FindAttributes(const std::string& uri) const;
  // Returns the resources that a new member of the collection may refer to, in order: the links to
  // resources of `type`, such as "Drive.Drive", in the lists of the resource above the collection.
  // Each has its URI and its Name.
  struct Reference {
    std::string uri;
    std::string name;
  };
  std::vector<Reference> References(const std::string& collection, std::string_view type) const;

  // Returns a recorded description of an action's parameters, or null when there is none.
  const nlohmann::json* FindActionInfo(const std::string& uri) const;

 private:
  void AddAttributes(const Capture& capture);
  void AddReferences(const Capture& capture);

  std::unordered_set<std::string> uris_;
  std::unordered_set<std::string> dangling_;
  // Collections and members of account slots.
  std::set<std::string> fixed_;
  // Maps a collection to the type of its members.
  std::map<std::string, std::string> member_types_;
  bool expands_ = false;
  bool has_tasks_ = false;
  std::vector<std::string> role_ids_;
  std::map<std::string, nlohmann::json> action_infos_;
  std::map<std::string, Attributes> attributes_;
  // Maps a collection to all links in the lists of the resource above it, each with its type.
  struct TypedReference {
    std::string type;
    Reference reference;
  };
  std::map<std::string, std::vector<TypedReference>> references_;
};

}  // namespace shoal::redfish
