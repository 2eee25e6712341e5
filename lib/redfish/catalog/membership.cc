// SPDX-License-Identifier: Apache-2.0
#include "redfish/catalog/membership.h"

#include <algorithm>
#include <array>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 6> kHardware = {
    "#Chassis",           "#ChassisCollection", "#ComputerSystem", "#ComputerSystemCollection",
    "#EthernetInterface", "#GraphicsController"};

// Returns the recorded members, without dangling ones.
std::vector<std::pair<std::string, const Json*>> Members(const Capture& capture,
                                                         const Json& collection) {
  std::vector<std::pair<std::string, const Json*>> found;
  for (std::string& uri : MemberUris(collection)) {
    const Json* const body = capture.Find(uri);
    if (body != nullptr) found.emplace_back(std::move(uri), body);
  }
  return found;
}

}  // namespace

bool IsHardware(std::string_view odata_type) {
  const std::string_view type = odata_type.substr(0, odata_type.find('.'));
  return std::find(kHardware.begin(), kHardware.end(), type) != kHardware.end();
}

std::vector<std::string> AccountSlots(const Capture& capture, const Json& collection) {
  std::vector<std::string> slots;
  if (!TextAt(collection, "@odata.type").starts_with("#ManagerAccountColl")) return slots;
  bool has_empty = false;
  for (const auto& [uri, account] : Members(capture, collection)) {
    slots.push_back(uri);
    has_empty = has_empty || account->value("UserName", Json()) == Json("");
  }
  if (!has_empty) slots.clear();
  return slots;
}

std::string MemberType(const Capture& capture, const Schema& schema, const Json& collection) {
  const auto members = Members(capture, collection);
  if (!members.empty()) return TextAt(*members.front().second, "@odata.type");
  const std::string_view type = schema.MemberType(TextAt(collection, "@odata.type"));
  if (type.empty()) return {};
  const std::string name = "#" + std::string(type.substr(0, type.find('.')));
  const std::string_view recorded = capture.TypeOfFirst(name);
  return recorded.empty() ? "#" + std::string(type) : std::string(recorded);
}

}  // namespace shoal::redfish
