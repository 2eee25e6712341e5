// SPDX-License-Identifier: Apache-2.0
#include "redfish/capture/variant_hardware.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <charconv>
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

// The copy of a larger subtree would crowd out the rest of the service's requests.
constexpr std::size_t kLargestCopy = 60;
constexpr std::string_view kBootOptionType = "#BootOption.v1_0_4.BootOption";
constexpr std::string_view kBootOptionsType = "#BootOptionCollection.BootOptionCollection";

struct OptionalPart {
  std::string_view type;
  // The object that has the member: a JSON Pointer, empty for the resource.
  std::string_view parent;
  std::string_view name;
  double removed;
};

constexpr OptionalPart kParts[] = {
    {"#ComputerSystem.", "", "AssetTag", 0.15},
    {"#ComputerSystem.", "", "HostName", 0.3},
    {"#ComputerSystem.", "", "SKU", 0.3},
    {"#ComputerSystem.", "", "PartNumber", 0.3},
    {"#ComputerSystem.", "", "SubModel", 0.3},
    {"#ComputerSystem.", "", "IndicatorLED", 0.2},
    {"#ComputerSystem.", "", "LocationIndicatorActive", 0.2},
    {"#ComputerSystem.", "", "HostWatchdogTimer", 0.3},
    {"#ComputerSystem.", "", "PowerRestorePolicy", 0.3},
    {"#ComputerSystem.", "", "HostedServices", 0.3},
    {"#ComputerSystem.", "", "HostingRoles", 0.3},
    {"#ComputerSystem.", "", "GraphicalConsole", 0.3},
    {"#ComputerSystem.", "", "SerialConsole", 0.3},
    {"#ComputerSystem.", "", "VirtualMediaConfig", 0.3},
    {"#ComputerSystem.", "", "PowerMode", 0.3},
    {"#ComputerSystem.", "", "IdlePowerSaver", 0.3},
    {"#ComputerSystem.", "", "KeyManagement", 0.3},
    {"#ComputerSystem.", "", "LogServices", 0.2},
    {"#ComputerSystem.", "", "SimpleStorage", 0.2},
    {"#ComputerSystem.", "", "NetworkInterfaces", 0.2},
    {"#ComputerSystem.", "", "PCIeDevices", 0.2},
    {"#ComputerSystem.", "", "PCIeFunctions", 0.2},
    {"#ComputerSystem.", "", "USBControllers", 0.2},
    {"#ComputerSystem.", "", "GraphicsControllers", 0.2},
    {"#ComputerSystem.", "", "Certificates", 0.2},
    {"#ComputerSystem.", "", "Memory", 0.15},
    {"#ComputerSystem.", "", "Processors", 0.15},
    {"#ComputerSystem.", "/Boot", "AutomaticRetryConfig", 0.3},
    {"#ComputerSystem.", "/Boot", "TrustedModuleRequiredToBoot", 0.3},
    {"#ComputerSystem.", "/Boot", "StopBootOnFault", 0.3},
    {"#ComputerSystem.", "/Boot", "HttpBootUri", 0.3},
    {"#ComputerSystem.", "/Boot", "BootSourceOverrideMode", 0.15},
    {"#Chassis.", "", "AssetTag", 0.15},
    {"#Chassis.", "", "SKU", 0.3},
    {"#Chassis.", "", "PartNumber", 0.3},
    {"#Chassis.", "", "IndicatorLED", 0.2},
    {"#Chassis.", "", "LocationIndicatorActive", 0.2},
    {"#Chassis.", "", "Location", 0.3},
    {"#Chassis.", "", "EnvironmentalClass", 0.3},
    {"#Chassis.", "", "PhysicalSecurity", 0.2},
    {"#Chassis.", "", "Power", 0.2},
    {"#Chassis.", "", "Thermal", 0.2},
    {"#Chassis.", "", "Sensors", 0.25},
    {"#Chassis.", "", "NetworkAdapters", 0.15},
    {"#Chassis.", "", "PCIeSlots", 0.2},
    {"#Chassis.", "", "PCIeDevices", 0.2},
    {"#Chassis.", "", "Assembly", 0.2},
    {"#Chassis.", "", "Controls", 0.2},
    {"#Chassis.", "", "EnvironmentMetrics", 0.2},
    {"#Chassis.", "", "TrustedComponents", 0.2},
    {"#Chassis.", "", "Certificates", 0.2},
    {"#Manager.", "", "DateTimeLocalOffset", 0.3},
    {"#Manager.", "", "TimeZoneName", 0.3},
    {"#Manager.", "", "AutoDSTEnabled", 0.3},
    {"#Manager.", "", "CommandShell", 0.3},
    {"#Manager.", "", "SerialConsole", 0.3},
    {"#Manager.", "", "GraphicalConsole", 0.3},
    {"#Manager.", "", "LocationIndicatorActive", 0.3},
    {"#Manager.", "", "SerialInterfaces", 0.3},
    {"#Manager.", "", "HostInterfaces", 0.3},
    {"#Manager.", "", "LogServices", 0.2},
    {"#Manager.", "", "USBPorts", 0.3},
    {"#Manager.", "", "DedicatedNetworkPorts", 0.3},
    {"#ManagerNetworkProtocol.", "", "Telnet", 0.2},
    {"#ManagerNetworkProtocol.", "", "IPMI", 0.15},
    {"#ManagerNetworkProtocol.", "", "NTP", 0.1},
    {"#ManagerNetworkProtocol.", "", "SNMP", 0.2},
    {"#ManagerNetworkProtocol.", "", "SSDP", 0.2},
    {"#ManagerNetworkProtocol.", "", "KVMIP", 0.2},
    {"#ManagerNetworkProtocol.", "", "VirtualMedia", 0.2},
    {"#ManagerNetworkProtocol.", "", "RDP", 0.3},
    {"#ManagerNetworkProtocol.", "", "RFB", 0.3},
    {"#ServiceRoot.", "", "TelemetryService", 0.25},
    {"#ServiceRoot.", "", "ComponentIntegrity", 0.25},
    {"#ServiceRoot.", "", "Fabrics", 0.25},
    {"#ServiceRoot.", "", "CertificateService", 0.2},
    {"#ServiceRoot.", "", "JobService", 0.25},
    {"#ServiceRoot.", "", "LicenseService", 0.25},
    {"#ServiceRoot.", "", "KeyService", 0.25},
};

constexpr std::string_view kChassisSegments[] = {
    "Tray_1", "Enclosure.Internal.0-1", "Backplane", "Riser1", "PowerShelf", "2", "ExpansionUnit"};
constexpr std::string_view kChassisNames[] = {"Drive Backplane", "Expansion Tray", "Riser Card",
                                              "Storage Enclosure", "Power Shelf"};
constexpr std::string_view kChassisTypes[] = {"Enclosure", "Module", "Drawer", "Expansion"};
constexpr std::string_view kSystemSegments[] = {"DPU0", "Card1-SoC", "HGX_Baseboard_0", "2",
                                                "Partition2"};
constexpr std::string_view kSystemNames[] = {"SmartNIC System", "Accelerator Baseboard",
                                             "Second Partition", "Storage Processor"};
// What identifies one piece of hardware and cannot be true of its copy.
constexpr const char* kIdentities[] = {"UUID", "SerialNumber", "@odata.etag"};

struct BootEntry {
  std::string_view name;
  std::string_view shown;
};
constexpr BootEntry kBootEntries[] = {
    {"NIC.Integrated.1-1-1", "PXE Device 1: Integrated NIC 1 Port 1"},
    {"HardDisk.List.1-1", "Hard drive C:"},
    {"Optical.SATAEmbedded.E-1", "Virtual Optical Drive"},
    {"USB.Front.1", "Front USB"},
    {"RAID.Slot.1", "RAID Controller in Slot 1"},
    {"NIC.Slot.3-1-1", "HTTP Device 1: NIC in Slot 3 Port 1"},
    {"UEFI.Shell.1", "Embedded UEFI Shell"},
};

// Leaves out what a vendor adds to the resource, its links and its actions.
void RemoveOem(Json& value) {
  if (!value.is_object()) return;
  value.erase("Oem");
  for (const char* const name : {"Links", "Actions"}) {
    const auto part = value.find(name);
    if (part != value.end() && part->is_object()) part->erase("Oem");
  }
}

void RemovePart(Json& body, const OptionalPart& part) {
  Json* owner = &body;
  if (!part.parent.empty()) {
    const auto found = body.find(part.parent.substr(1));
    if (found == body.end() || !found->is_object()) return;
    owner = &*found;
  }
  const std::string annotations = std::string(part.name) + "@";
  for (auto member = owner->begin(); member != owner->end();) {
    const bool goes = member.key() == part.name || member.key().starts_with(annotations);
    member = goes ? owner->erase(member) : std::next(member);
  }
}

// Returns a URI of a member of `collection` that is not there yet.
std::string FreshUri(ResourceTree& tree, const std::string& collection,
                     std::span<const std::string_view> segments, Draws& draws) {
  const std::string uri = collection + "/" + std::string(draws.Pick(segments));
  std::string fresh = uri;
  for (int i = 2; tree.Find(fresh) != nullptr; ++i) fresh = uri + "_" + std::to_string(i);
  return fresh;
}

std::string CollectionOf(const std::string& uri) { return uri.substr(0, uri.rfind('/')); }

// Copies a member of a collection and returns the URI of the copy; an empty text when the member is
// no direct child of the collection.
std::string CopyMember(ResourceTree& tree, const std::string& uri,
                       std::span<const std::string_view> segments, Draws& draws) {
  const std::string collection = CollectionOf(uri);
  Json* const list = tree.Find(collection);
  if (list == nullptr || !list->contains("Members")) return {};
  const std::string copy = FreshUri(tree, collection, segments, draws);
  tree.Copy(uri, copy, tree.SizeOf(uri) > kLargestCopy);
  AppendLink(*list, "/Members", copy);
  Json& body = *tree.Find(copy);
  body["Id"] = copy.substr(copy.rfind('/') + 1);
  for (const char* const name : kIdentities) body.erase(name);
  return copy;
}

void LinkFrom(ResourceTree& tree, const std::string& from, const std::string& pointer,
              const std::string& to) {
  if (Json* const body = tree.Find(from)) AppendLink(*body, pointer, to);
}

void CopyChassis(ResourceTree& tree, const Landmarks& landmarks, Draws& draws) {
  const std::string copy = CopyMember(tree, landmarks.chassis, kChassisSegments, draws);
  if (copy.empty()) return;
  Json& body = *tree.Find(copy);
  body["Name"] = std::string(draws.Pick(std::span<const std::string_view>(kChassisNames)));
  body["ChassisType"] = std::string(draws.Pick(std::span<const std::string_view>(kChassisTypes)));
  Json links = Json::object();
  links["ContainedBy"] = {{"@odata.id", landmarks.chassis}};
  if (const Json* const managers = Resolve(body, "/Links/ManagedBy")) {
    links["ManagedBy"] = *managers;
  }
  body["Links"] = std::move(links);
  LinkFrom(tree, landmarks.chassis, "/Links/Contains", copy);
  LinkFrom(tree, landmarks.manager, "/Links/ManagerForChassis", copy);
}

void CopySystem(ResourceTree& tree, const Landmarks& landmarks, Draws& draws) {
  const std::string copy = CopyMember(tree, landmarks.system, kSystemSegments, draws);
  if (copy.empty()) return;
  Json& body = *tree.Find(copy);
  body["Name"] = std::string(draws.Pick(std::span<const std::string_view>(kSystemNames)));
  if (!TextAt(body, "HostName").empty()) body["HostName"] = TextAt(body, "HostName") + "-2";
  LinkFrom(tree, landmarks.chassis, "/Links/ComputerSystems", copy);
  LinkFrom(tree, landmarks.manager, "/Links/ManagerForServers", copy);
}

// Returns the minor version in "#ComputerSystem.v1_16_0.ComputerSystem", or 0.
int MinorVersion(const Json& body) {
  const std::string type = TextAt(body, "@odata.type");
  const std::size_t at = type.find(".v1_");
  int minor = 0;
  if (at != std::string::npos) {
    std::from_chars(type.data() + at + 4, type.data() + type.size(), minor);
  }
  return minor;
}

struct BootName {
  std::string reference;
  std::string shown;
};

// Returns names for `count` entries in one of the styles that vendors use.
std::vector<BootName> BootNames(std::size_t count, Draws& draws) {
  const bool words = draws.Chance(0.4) && count <= std::size(kBootEntries);
  const std::size_t first = draws.Below(32);
  std::vector<BootEntry> entries(std::begin(kBootEntries), std::end(kBootEntries));
  draws.Shuffle(std::span<BootEntry>(entries));
  std::vector<BootName> names;
  for (std::size_t i = 0; i < count; ++i) {
    const BootEntry& entry = entries[i % entries.size()];
    std::string reference =
        words ? std::string(entry.name) : absl::StrFormat("Boot%04X", first + i);
    names.push_back({std::move(reference), std::string(entry.shown)});
  }
  return names;
}

void AddBootOptions(ResourceTree& tree, const std::string& system,
                    const std::vector<BootName>& names) {
  const std::string collection = system + "/BootOptions";
  if (tree.Find(collection) != nullptr) return;
  tree.resources()[collection] = {{"@odata.id", collection},
                                  {"@odata.type", kBootOptionsType},
                                  {"Name", "Boot Options Collection"},
                                  {"Members", Json::array()},
                                  {"Members@odata.count", 0}};
  for (const BootName& name : names) {
    const std::string uri = collection + "/" + name.reference;
    tree.AddMember(collection, uri,
                   {{"@odata.id", uri},
                    {"@odata.type", kBootOptionType},
                    {"Id", name.reference},
                    {"Name", "Boot Option"},
                    {"BootOptionEnabled", true},
                    {"BootOptionReference", name.reference},
                    {"DisplayName", name.shown}});
  }
  (*tree.Find(system))["Boot"]["BootOptions"] = {{"@odata.id", collection}};
}

void AddBootOrder(ResourceTree& tree, const std::string& system, Draws& draws) {
  Json& body = *tree.Find(system);
  // Boot.BootOrder and BootOption came with version 1.5 of ComputerSystem.
  if (MinorVersion(body) < 5 || !draws.Chance(0.6)) return;
  const std::vector<BootName> names = BootNames(3 + draws.Below(4), draws);
  Json order = Json::array();
  for (const BootName& name : names) order.push_back(name.reference);
  body["Boot"]["BootOrder"] = std::move(order);
  if (draws.Chance(0.6)) AddBootOptions(tree, system, names);
}

// Replaces texts that are a reference to a boot option.
void Replace(Json& value, const std::map<std::string, std::string, std::less<>>& names) {
  if (value.is_structured()) {
    for (Json& inner : value) Replace(inner, names);
  } else if (value.is_string()) {
    const auto found = names.find(value.get_ref<const std::string&>());
    if (found != names.end()) value = found->second;
  }
}

void RenameBootOrder(ResourceTree& tree, const std::string& system, const Json& order,
                     Draws& draws) {
  const std::vector<BootName> names = BootNames(order.size(), draws);
  std::map<std::string, std::string, std::less<>> replaced;
  std::map<std::string, std::string, std::less<>> segments;
  const std::string options = LinkTarget((*tree.Find(system))["Boot"].value("BootOptions", Json()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string old = order[i].is_string() ? order[i].get<std::string>() : std::string();
    // A name of a new entry that an old one has would make two entries of one name.
    for (const BootName& name : names) {
      const bool taken = std::find(order.begin(), order.end(), Json(name.reference)) != order.end();
      if (old.empty() || taken) return;
    }
    replaced[old] = names[i].reference;
    if (tree.Find(options + "/" + old) != nullptr) {
      segments[options + "/" + old] = names[i].reference;
    }
  }
  // An option outside the order may have a name of the new style, too.
  for (const BootName& name : names) {
    if (tree.Find(options + "/" + name.reference) != nullptr) return;
  }
  for (auto& [uri, body] : tree.resources()) {
    if (uri == system || IsAtOrBelow(uri, system + "/Settings")) {
      const auto boot = body.find("Boot");
      if (boot != body.end()) Replace(*boot, replaced);
    } else if (!options.empty() && uri.starts_with(options + "/")) {
      const auto reference = body.find("BootOptionReference");
      if (reference != body.end()) Replace(*reference, replaced);
    }
  }
  tree.Rename(segments);
}

}  // namespace

void RemoveOptionalParts(ResourceTree& tree, Draws& draws) {
  const std::set<std::string> before = tree.Reachable();
  const bool without_oem = draws.Chance(0.35);
  for (const OptionalPart& part : kParts) {
    if (!draws.Chance(part.removed)) continue;
    for (auto& [uri, body] : tree.resources()) {
      if (TextAt(body, "@odata.type").starts_with(part.type)) RemovePart(body, part);
    }
  }
  if (without_oem) {
    for (auto& [uri, body] : tree.resources()) RemoveOem(body);
  }
  const std::set<std::string> after = tree.Reachable();
  std::set<std::string> lost;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::inserter(lost, lost.end()));
  tree.Remove(lost);
}

void AddHardware(ResourceTree& tree, const Landmarks& landmarks, Draws& draws) {
  const bool chassis = draws.Chance(0.4);
  const bool system = draws.Chance(0.25);
  if (chassis && tree.Find(landmarks.chassis) != nullptr) CopyChassis(tree, landmarks, draws);
  if (system && tree.Find(landmarks.system) != nullptr) CopySystem(tree, landmarks, draws);
}

void ChangeBootOrder(ResourceTree& tree, const Landmarks& landmarks, Draws& draws) {
  Json* const system = tree.Find(landmarks.system);
  if (system == nullptr || !system->contains("Boot") || !(*system)["Boot"].is_object()) return;
  const auto found = (*system)["Boot"].find("BootOrder");
  if (found == (*system)["Boot"].end() || !found->is_array() || found->empty()) {
    return AddBootOrder(tree, landmarks.system, draws);
  }
  std::vector<Json> entries(found->begin(), found->end());
  if (draws.Chance(0.5)) draws.Shuffle(std::span<Json>(entries));
  *found = entries;
  if (draws.Chance(0.6)) RenameBootOrder(tree, landmarks.system, Json(entries), draws);
}

}  // namespace shoal::redfish
