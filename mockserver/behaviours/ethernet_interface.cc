// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/ethernet_interface.h"

#include <utility>

#include "mockserver/resources/patch.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kAddresses = "/IPv4Addresses";
constexpr const char* kOrigin = "AddressOrigin";

Json StaticAddresses(const Json& settings) {
  Json addresses = Json::array();
  for (const Json& one : settings) {
    if (!one.is_object()) continue;
    addresses.push_back(one);
    addresses.back()[kOrigin] = "Static";
  }
  return addresses;
}

Json CapturedAddresses(const Json& captured) {
  Json addresses = Json::array();
  const Json* const listed = redfish::Resolve(captured, kAddresses);
  if (listed == nullptr || !listed->is_array()) return addresses;
  for (const Json& one : *listed) {
    if (redfish::TextAt(one, kOrigin) != "Static") addresses.push_back(one);
  }
  return addresses;
}

void FollowSettings(Editor& editor, ResourceId interface) {
  const Json* const settings = editor.Read(interface, "/IPv4StaticAddresses");
  if (settings == nullptr || !settings->is_array()) return;
  Json addresses = editor.IsTrue(interface, "/DHCPv4/DHCPEnabled")
                       ? CapturedAddresses(*editor.resource(interface).json)
                       : StaticAddresses(*settings);
  editor.SetPresent(interface, std::string(kAddresses) + "@odata.count", addresses.size());
  editor.SetPresent(interface, kAddresses, std::move(addresses));
}

Response PatchInterface(Editor& editor, const Call& call) {
  const bool is_active = !editor.world().ActiveOf(call.resource).has_value();
  const bool concerns_addresses =
      call.body.contains("DHCPv4") || call.body.contains("IPv4StaticAddresses");
  PatchRules rules;
  if (is_active && concerns_addresses) {
    rules.follow = [&] { FollowSettings(editor, call.resource); };
  }
  return Patch(editor, call.resource, call.body, rules);
}

}  // namespace

void AddEthernetInterface(HandlerTable& handlers) {
  handlers.On(Method::kPatch, "EthernetInterface", &PatchInterface);
}

}  // namespace shoal::mockserver
