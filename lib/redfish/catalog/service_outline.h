// SPDX-License-Identifier: Apache-2.0
// The facts about a whole service that the candidates of one resource need: which resources were
// recorded, which can be made and deleted, the member types of collections, and the roles.
//
// The outline copies what it needs, so the capture may be destroyed. Immutable, safe for any number
// of threads.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "redfish/capture/capture.h"
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
  // The Ids of the roles that accounts may have.
  const std::vector<std::string>& role_ids() const { return role_ids_; }
  // Returns a recorded description of an action's parameters, or null when there is none.
  const nlohmann::json* FindActionInfo(const std::string& uri) const;

 private:
  std::unordered_set<std::string> uris_;
  std::unordered_set<std::string> dangling_;
  // Collections and members of account slots.
  std::set<std::string> fixed_;
  // Maps a collection to the type of its members.
  std::map<std::string, std::string> member_types_;
  std::vector<std::string> role_ids_;
  std::map<std::string, nlohmann::json> action_infos_;
};

}  // namespace shoal::redfish
