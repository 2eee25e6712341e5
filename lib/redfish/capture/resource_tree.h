// SPDX-License-Identifier: Apache-2.0
// The resources of a service while they are rewritten, with edits that keep links and targets
// together.
//
// Not thread-safe. A URI that no resource has is accepted everywhere and changes nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "redfish/capture/capture.h"

namespace shoal::redfish {

class ResourceTree {
 public:
  explicit ResourceTree(Capture::Resources resources) : resources_(std::move(resources)) {}

  // Returns nullptr when there is no such resource. The pointer is valid until that resource is
  // removed or renamed.
  nlohmann::json* Find(std::string_view uri);
  Capture::Resources& resources() { return resources_; }

  // Adds a resource, and lists it last in `collection`.
  void AddMember(const std::string& collection, const std::string& uri, nlohmann::json body);

  // Returns the number of resources at and below `uri`.
  std::size_t SizeOf(std::string_view uri) const;

  // Copies the resource `from` to `to`, with what is below it, or alone with `alone`. Texts that
  // name a URI of the original name that of the copy; links of the copies that lead nowhere are
  // left out.
  void Copy(const std::string& from, const std::string& to, bool alone);

  // Removes the resources, every link to them and every text that is the URI of one.
  void Remove(const std::set<std::string>& uris);

  // Returns the URIs that can be reached from the service root by texts that are URIs.
  std::set<std::string> Reachable() const;

  // Gives resources new last segments, by their present URI. Texts of all bodies that name a URI at
  // or below one of them follow, and so does an "Id" that is the old segment.
  void Rename(const std::map<std::string, std::string, std::less<>>& segments);

 private:
  Capture::Resources resources_;
};

// Appends a link to the array at `pointer` in `body`, which is made when it is missing, and keeps
// its "@odata.count" where there is one.
void AppendLink(nlohmann::json& body, const std::string& pointer, const std::string& uri);

}  // namespace shoal::redfish
