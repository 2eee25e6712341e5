// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/dangling_members.h"

#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::redfish {

std::vector<std::string> DanglingMembers(const Capture::Resources& resources) {
  std::vector<std::string> dangling;
  for (const auto& [uri, body] : resources) {
    const auto members = body.find("Members");
    if (members == body.end() || !members->is_array()) continue;
    for (const nlohmann::json& member : *members) {
      std::string target = LinkTarget(member);
      const bool link_only = member.is_object() && member.size() == 1;
      if (!target.empty() && link_only && !resources.contains(target)) {
        dangling.push_back(std::move(target));
      }
    }
  }
  return dangling;
}

}  // namespace shoal::redfish
