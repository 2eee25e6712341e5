// SPDX-License-Identifier: Apache-2.0
// What the candidates of one resource need to know about the rest of its service: which resources
// were recorded, which come and go, what the members of a collection are, and which roles exist.
//
// Copies what it needs, so that the capture may go. Immutable, safe for any number of threads.
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

  // Whether the service had the resource when it was recorded.
  bool Has(const std::string& uri) const { return uris_.contains(uri); }
  // Whether a collection listed the resource and the service did not have it.
  bool IsDangling(const std::string& uri) const { return dangling_.contains(uri); }
  // Whether the resource stays what it is: members are not made in it, nor is it deleted, whatever
  // the schema says of its type.
  bool IsFixed(const std::string& uri, std::string_view odata_type) const;
  // The type of members that come to the collection; empty when nothing tells.
  std::string MemberType(const std::string& collection) const;
  // The Ids of the roles that accounts may have.
  const std::vector<std::string>& role_ids() const { return role_ids_; }
  // A recorded description of an action's parameters; null when there is none.
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
