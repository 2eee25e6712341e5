// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/variant_names.h"

#include <absl/strings/str_replace.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;
using Texts = std::span<const std::string_view>;

constexpr std::string_view kAllowableSuffix = "@Redfish.AllowableValues";
// Lists that are shorter stay whole.
constexpr std::size_t kShortList = 4;

// In a style, {0} is the member's number from 0 and {1} its number from 1. Without a number it is
// the first member's segment, and the others get their number at its end.
constexpr std::string_view kSystems[] = {
    "{1}",           "Self",   "node{0}",  "System.Embedded.{1}",
    "437XR1138R{1}", "system", "Blade{1}", "Server-{1}"};
constexpr std::string_view kChassis[] = {"{1}",  "Self",      "chassis",      "System.Chassis.{1}",
                                         "{1}U", "RackMount", "Enclosure{0}", "Baseboard"};
constexpr std::string_view kManagers[] = {
    "{1}", "BMC", "bmc", "Self", "iDRAC.Embedded.{1}", "manager{0}", "XCC", "mgmt-{1}"};
constexpr std::string_view kNumbers[] = {"{1}", "{0}"};
constexpr std::string_view kAccounts[] = {"{1}", "user{1}", "6553{0}", "account-{1}"};
constexpr std::string_view kNics[] = {"eth{0}",      "NIC.Integrated.1-{1}-1", "{1}",
                                      "NIC{0}",      "12446A3B041{0}",         "mgmt{0}",
                                      "ToManager{0}"};
constexpr std::string_view kStorage[] = {"{1}", "RAID.Integrated.1-{1}", "DE00900{0}", "SATA{0}",
                                         "Controller{0}"};
constexpr std::string_view kDrives[] = {"Disk.Bay.{0}", "{0}", "Drive{1}", "nvme{0}", "Bay{1}"};
constexpr std::string_view kProcessors[] = {"CPU{1}", "{1}", "CPU.Socket.{1}", "cpu{0}",
                                            "Proc-{1}"};
constexpr std::string_view kMemory[] = {"DIMM{1}", "{1}", "DIMM.Socket.A{1}", "dimm{0}",
                                        "proc1dimm{1}"};
constexpr std::string_view kMedia[] = {"{1}", "CD{1}", "Slot_{0}", "EXT{1}", "USB{0}"};
constexpr std::string_view kSupplies[] = {"PSU{0}", "{0}", "Bay{1}", "PSU.Slot.{1}",
                                          "powersupply{0}"};
constexpr std::string_view kFans[] = {"Fan{1}", "{0}", "Fan.Embedded.{1}A", "fan{0}", "Bay{1}"};
constexpr std::string_view kAdapters[] = {"NIC.Slot.{1}", "DE07{0}00", "{1}", "Adapter{0}",
                                          "DA00000{0}"};

struct SegmentStyles {
  std::string_view collection;
  Texts styles;
};

const SegmentStyles kSegments[] = {{"#ComputerSystemCollection.", kSystems},
                                   {"#ChassisCollection.", kChassis},
                                   {"#ManagerCollection.", kManagers},
                                   {"#ManagerAccountCollection.", kAccounts},
                                   {"#EthernetInterfaceCollection.", kNics},
                                   {"#StorageCollection.", kStorage},
                                   {"#DriveCollection.", kDrives},
                                   {"#ProcessorCollection.", kProcessors},
                                   {"#MemoryCollection.", kMemory},
                                   {"#VirtualMediaCollection.", kMedia},
                                   {"#PowerSupplyCollection.", kSupplies},
                                   {"#FanCollection.", kFans},
                                   {"#NetworkAdapterCollection.", kAdapters},
                                   {"#NetworkInterfaceCollection.", kAdapters},
                                   {"#SerialInterfaceCollection.", kNumbers},
                                   {"#HostInterfaceCollection.", kNumbers},
                                   {"#StorageControllerCollection.", kNumbers}};

// Collections whose members may be listed in any order.
constexpr std::string_view kReordered[] = {"#ChassisCollection.",
                                           "#ManagerAccountCollection.",
                                           "#EthernetInterfaceCollection.",
                                           "#StorageCollection.",
                                           "#DriveCollection.",
                                           "#ProcessorCollection.",
                                           "#MemoryCollection.",
                                           "#VirtualMediaCollection.",
                                           "#NetworkAdapterCollection.",
                                           "#SoftwareInventoryCollection.",
                                           "#BootOptionCollection.",
                                           "#PowerSupplyCollection.",
                                           "#FanCollection.",
                                           "#LogServiceCollection."};

constexpr std::string_view kSystemTitles[] = {
    "System",       "Computer System", "Server",      "Main Server",     "Host System", "Node",
    "Compute Node", "WebFrontEnd12",   "db-server-7", "Physical System", "Rack Server"};
constexpr std::string_view kChassisTitles[] = {"Chassis",
                                               "Main Chassis",
                                               "Computer System Chassis",
                                               "Enclosure",
                                               "Rack Mount Chassis",
                                               "Server Chassis",
                                               "System Enclosure",
                                               "Baseboard",
                                               "2U Enclosure",
                                               "Motherboard Chassis"};
constexpr std::string_view kManagerTitles[] = {"Manager",
                                               "BMC",
                                               "Management Controller",
                                               "Baseboard Management Controller",
                                               "Lights-Out Manager",
                                               "Service Processor",
                                               "OpenBmc Manager",
                                               "Remote Access Controller"};
constexpr std::string_view kNicTitles[] = {
    "Ethernet Interface",         "Network Port", "NIC Port", "LAN",
    "Manager Ethernet Interface", "Dedicated NIC"};
constexpr std::string_view kAccountTitles[] = {"User Account", "Account", "User", "Local User"};
constexpr std::string_view kProtocolTitles[] = {"Manager Network Protocol", "Network Protocol",
                                                "Network Services", "Protocol Settings"};
constexpr std::string_view kMediaTitles[] = {"Virtual Media", "Virtual CD", "Removable Disk",
                                             "Remote Media"};

struct TypeNames {
  std::string_view type;
  Texts names;
};

const TypeNames kTitles[] = {
    {"#ComputerSystem.", kSystemTitles},  {"#Chassis.", kChassisTitles},
    {"#Manager.", kManagerTitles},        {"#EthernetInterface.", kNicTitles},
    {"#ManagerAccount.", kAccountTitles}, {"#ManagerNetworkProtocol.", kProtocolTitles},
    {"#VirtualMedia.", kMediaTitles}};

struct Product {
  std::string_view manufacturer;
  std::string_view system;
  std::string_view chassis;
};
constexpr Product kProducts[] = {
    {"Contoso", "3500", "3500RX"},         {"Fabrikam", "FK-220 G5", "FK-220"},
    {"Northwind", "NW Server 2U", "NW2U"}, {"Tailspin", "TS650 V3", "TS650"},
    {"Litware", "LW-1029P", "LW-815"},     {"Proseware", "PW R7", "PW R7"}};

std::string Segment(std::string_view style, std::size_t member) {
  const std::string from0 = std::to_string(member);
  const std::string from1 = std::to_string(member + 1);
  if (style.find('{') != std::string_view::npos) {
    return absl::StrReplaceAll({style.data(), style.size()}, {{"{0}", from0}, {"{1}", from1}});
  }
  return std::string(style) + (member == 0 ? std::string() : from1);
}

const SegmentStyles* StylesOf(const Json& body) {
  const std::string type = TextAt(body, "@odata.type");
  for (const SegmentStyles& styles : kSegments) {
    if (type.starts_with(styles.collection)) return &styles;
  }
  return nullptr;
}

// Returns whether the accounts are slots, whose numbers are their ids everywhere.
bool HasSlots(ResourceTree& tree, const std::vector<std::string>& members) {
  return std::any_of(members.begin(), members.end(), [&](const std::string& uri) {
    const Json* const body = tree.Find(uri);
    return body != nullptr && body->value("UserName", Json()) == Json("");
  });
}

// Returns a Name that no sibling has.
std::string Unique(std::string name, std::set<std::pair<std::string, std::string>>& used,
                   const std::string& collection) {
  const std::string wanted = name;
  for (int i = 2; !used.emplace(collection, name).second; ++i) {
    name = wanted + " " + std::to_string(i);
  }
  return name;
}

void ChangeProducts(ResourceTree& tree, Draws& draws) {
  const Product& product = draws.Pick(std::span<const Product>(kProducts));
  for (auto& [uri, body] : tree.resources()) {
    const std::string type = TextAt(body, "@odata.type");
    const bool system = type.starts_with("#ComputerSystem.");
    if (!system && !type.starts_with("#Chassis.")) continue;
    if (body.contains("Manufacturer")) body["Manufacturer"] = std::string(product.manufacturer);
    if (body.contains("Model")) {
      body["Model"] = std::string(system ? product.system : product.chassis);
    }
  }
}

void Shorten(Json& values, const Json* present, Draws& draws) {
  const std::size_t least = values.size() - values.size() / 3;
  const std::size_t wanted = least + draws.Below(values.size() - least + 1);
  for (std::size_t i = values.size(); i > 0 && values.size() > wanted; --i) {
    const Json& value = values[i - 1];
    const bool stays = (present != nullptr && *present == value) || value == Json("None");
    if (!stays && draws.Chance(0.5)) values.erase(i - 1);
  }
}

void ChangeList(Json& values, const Json* present, Draws& draws) {
  std::vector<Json> items(values.begin(), values.end());
  if (draws.Chance(0.5)) draws.Shuffle(std::span<Json>(items));
  values = std::move(items);
  if (values.size() >= kShortList && draws.Chance(0.4)) Shorten(values, present, draws);
}

void ChangeLists(Json& value, bool is_action_info, Draws& draws) {
  if (value.is_array()) {
    for (Json& item : value) ChangeLists(item, is_action_info, draws);
  }
  if (!value.is_object()) return;
  for (auto& [name, member] : value.items()) {
    const bool list =
        name.ends_with(kAllowableSuffix) || (is_action_info && name == "AllowableValues");
    if (list && member.is_array()) {
      const auto present =
          value.find(name.substr(0, name.size() - std::min(name.size(), kAllowableSuffix.size())));
      ChangeList(member, present == value.end() ? nullptr : &*present, draws);
    } else {
      ChangeLists(member, is_action_info, draws);
    }
  }
}

}  // namespace

void ChangeSegments(ResourceTree& tree, Draws& draws) {
  // Every style is drawn, whether or not the service has such a collection, so that one service's
  // collections do not decide what another's are called.
  std::map<std::string_view, std::string_view> chosen;
  for (const SegmentStyles& styles : kSegments) {
    const std::string_view style = draws.Pick(styles.styles);
    if (draws.Chance(0.8)) chosen[styles.collection] = style;
  }
  std::map<std::string, std::string, std::less<>> segments;
  for (const auto& [uri, body] : tree.resources()) {
    const std::string& collection = uri;
    const SegmentStyles* const styles = StylesOf(body);
    if (styles == nullptr || !chosen.contains(styles->collection)) continue;
    const std::vector<std::string> members = MemberUris(body);
    if (styles->styles.data() == kAccounts && HasSlots(tree, members)) continue;
    const bool below = std::all_of(members.begin(), members.end(), [&](const std::string& member) {
      return member.substr(0, member.rfind('/')) == collection;
    });
    // A resource below the collection that is no member could have a member's new name.
    const bool others = std::any_of(tree.resources().lower_bound(collection + "/"),
                                    tree.resources().end(), [&](const auto& entry) {
                                      return IsAtOrBelow(entry.first, collection) &&
                                             entry.first.rfind('/') == collection.size() &&
                                             std::find(members.begin(), members.end(),
                                                       entry.first) == members.end();
                                    });
    if (!below || others) continue;
    for (std::size_t i = 0; i < members.size(); ++i) {
      segments[members[i]] = Segment(chosen[styles->collection], i);
    }
  }
  tree.Rename(segments);
}

void ChangeNames(ResourceTree& tree, Draws& draws) {
  if (draws.Chance(0.6)) ChangeProducts(tree, draws);
  std::set<std::pair<std::string, std::string>> used;
  for (const TypeNames& names : kTitles) {
    const bool renames = draws.Chance(0.7);
    const bool describes = draws.Chance(0.5);
    const std::string name(draws.Pick(names.names));
    for (auto& [uri, body] : tree.resources()) {
      if (!TextAt(body, "@odata.type").starts_with(names.type)) continue;
      if (describes) body.erase("Description");
      if (renames) body["Name"] = Unique(name, used, uri.substr(0, uri.rfind('/')));
    }
  }
}

void ReorderMembers(ResourceTree& tree, Draws& draws) {
  for (auto& [uri, body] : tree.resources()) {
    const std::string type = TextAt(body, "@odata.type");
    const bool free = std::any_of(std::begin(kReordered), std::end(kReordered),
                                  [&](std::string_view other) { return type.starts_with(other); });
    const auto members = body.find("Members");
    if (!free || members == body.end() || !members->is_array()) continue;
    std::vector<Json> items(members->begin(), members->end());
    if (draws.Chance(0.4)) draws.Shuffle(std::span<Json>(items));
    *members = std::move(items);
  }
}

void ChangeAllowableValues(ResourceTree& tree, Draws& draws) {
  for (auto& [uri, body] : tree.resources()) {
    ChangeLists(body, TextAt(body, "@odata.type").starts_with("#ActionInfo."), draws);
  }
}

}  // namespace shoal::redfish
