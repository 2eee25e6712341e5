// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/volumes.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/behaviours/raid.h"
#include "mockserver/behaviours/tasks.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/apply_time.h"
#include "mockserver/resources/boot_queue.h"
#include "mockserver/resources/members.h"
#include "mockserver/resources/new_object.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kDrives = "/Links/Drives";
constexpr const char* kVolumes = "/Links/Volumes";

// The volume that a client asks for.
struct Plan {
  const RaidLevel* level = nullptr;
  std::vector<ResourceId> drives;
  // The members of the new volume's resource.
  Json members = Json::object();
  std::optional<Response> refusal;
};

Plan Refused(int status, std::string_view id, std::initializer_list<std::string> args = {}) {
  Plan plan;
  plan.refusal = ErrorResponse(status, id, args);
  return plan;
}

bool IsRawDevice(const Editor& editor, ResourceId volume) {
  return editor.Text(volume, "/VolumeType") == "RawDevice" &&
         editor.Text(volume, "/RAIDType").empty();
}

bool IsOccupied(const Editor& editor, ResourceId collection, ResourceId drive) {
  const std::vector<ResourceId> volumes = editor.Members(collection);
  return std::any_of(volumes.begin(), volumes.end(), [&](ResourceId volume) {
    const std::vector<ResourceId> drives = editor.LinkedAll(volume, kDrives);
    return !IsRawDevice(editor, volume) &&
           std::find(drives.begin(), drives.end(), drive) != drives.end();
  });
}

std::uint64_t BytesAt(const Editor& editor, ResourceId id, const char* pointer) {
  const Json* const bytes = editor.Read(id, pointer);
  if (bytes == nullptr || !bytes->is_number_integer() || *bytes < 0) return 0;
  return std::min(bytes->get<std::uint64_t>(),
                  std::numeric_limits<std::uint64_t>::max() / (std::uint64_t{1} << 10));
}

void Collect(const Json* types, std::set<std::string>& supported) {
  if (types == nullptr || !types->is_array()) return;
  for (const Json& type : *types) {
    if (type.is_string()) supported.insert(type.get<std::string>());
  }
}

// Returns an empty set where no controller lists any.
std::set<std::string> SupportedRaidTypes(const Editor& editor, ResourceId storage) {
  std::set<std::string> supported;
  const Json* const embedded = editor.Read(storage, "/StorageControllers");
  if (embedded != nullptr && embedded->is_array()) {
    for (const Json& controller : *embedded) {
      Collect(redfish::Resolve(controller, "/SupportedRAIDTypes"), supported);
    }
  }
  const auto controllers = editor.Linked(storage, "/Controllers");
  if (!controllers) return supported;
  for (const ResourceId controller : editor.Members(*controllers)) {
    Collect(editor.Read(controller, "/SupportedRAIDTypes"), supported);
  }
  return supported;
}

Plan PlanLevel(const Editor& editor, ResourceId storage, const Json& body) {
  const char* const name = body.contains("RAIDType") ? "RAIDType" : "VolumeType";
  const auto value = body.find(name);
  if (value == body.end()) return Refused(400, "PropertyMissing", {"RAIDType"});
  if (!value->is_string())
    return Refused(400, "PropertyValueTypeError", {Excerpt(*value, name), name});
  const std::string text = value->get<std::string>();
  Plan plan;
  plan.level = value->is_string() && name == std::string_view("RAIDType") ? FindRaidType(text)
                                                                          : FindVolumeType(text);
  const std::set<std::string> supported = SupportedRaidTypes(editor, storage);
  const bool is_supported =
      plan.level != nullptr &&
      (supported.empty() || supported.contains(std::string(plan.level->raid_type)));
  if (!is_supported) return Refused(400, "PropertyValueNotInList", {Excerpt(*value, name), name});
  plan.members["RAIDType"] = plan.level->raid_type;
  if (body.contains("VolumeType")) plan.members["VolumeType"] = body["VolumeType"];
  return plan;
}

void PlanDrives(const Editor& editor, ResourceId storage, ResourceId collection, const Json& body,
                Plan& plan) {
  const Json* links = redfish::Resolve(body, kDrives);
  if (links == nullptr) links = redfish::Resolve(body, "/Drives");
  const auto refuse = [&plan](int status, std::string_view id,
                              std::initializer_list<std::string> args = {}) {
    plan.refusal = ErrorResponse(status, id, args);
  };
  if (links == nullptr) return refuse(400, "PropertyMissing", {"Drives"});
  if (!links->is_array()) {
    return refuse(400, "PropertyValueTypeError", {Excerpt(*links, "Drives"), "Drives"});
  }
  const std::vector<ResourceId> own = editor.LinkedAll(storage, "/Drives");
  for (const Json& link : *links) {
    const std::string uri = redfish::LinkTarget(link);
    const auto drive = editor.Find(uri);
    const bool is_own = drive && std::find(own.begin(), own.end(), *drive) != own.end();
    if (!is_own) return refuse(400, "PropertyValueNotInList", {Excerpt(link, "Drives"), "Drives"});
    if (std::find(plan.drives.begin(), plan.drives.end(), *drive) != plan.drives.end()) {
      return refuse(400, "PropertyValueConflict", {"Drives", "Drives"});
    }
    if (IsOccupied(editor, collection, *drive)) return refuse(409, "ResourceInUse");
    plan.drives.push_back(*drive);
  }
  if (!plan.level->Takes(plan.drives.size())) {
    return refuse(400, "PropertyValueConflict", {"RAIDType", "Drives"});
  }
}

void PlanCapacity(const Editor& editor, const Json& body, Plan& plan) {
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  for (const ResourceId drive : plan.drives) {
    smallest = std::min(smallest, BytesAt(editor, drive, "/CapacityBytes"));
  }
  const std::uint64_t most = plan.level->CapacityBytes(plan.drives.size(), smallest);
  const auto asked = body.find("CapacityBytes");
  plan.members["CapacityBytes"] = most;
  if (asked == body.end() || asked->is_null()) return;
  if (!asked->is_number_integer()) {
    plan.refusal = ErrorResponse(400, "PropertyValueTypeError",
                                 {Excerpt(*asked, "CapacityBytes"), "CapacityBytes"});
  } else if (*asked < 1 || *asked > most) {
    plan.refusal = ErrorResponse(400, "PropertyValueOutOfRange",
                                 {Excerpt(*asked, "CapacityBytes"), "CapacityBytes"});
  }
  plan.members["CapacityBytes"] = *asked;
}

// Leaves the other members to the schema.
void PlanOthers(const Editor& editor, const std::string& type, const Json& body, Plan& plan) {
  Json others = body;
  for (const char* known : {"RAIDType", "VolumeType", "Drives", "CapacityBytes", "Name"}) {
    others.erase(known);
  }
  if (others.contains("Links") && others["Links"].is_object()) others["Links"].erase("Drives");
  std::vector<Json> messages;
  for (Problem& problem : JudgeNewObject(editor.world().schema(), type, "", others)) {
    messages.push_back(std::move(problem.info));
  }
  const auto name = body.find("Name");
  if (name != body.end() && !name->is_string()) {
    messages.push_back(ExtendedInfo("PropertyValueTypeError", {Excerpt(*name, "Name"), "Name"}));
  }
  if (!messages.empty()) plan.refusal = ErrorResponse(400, std::move(messages));
  others.erase("Links");
  std::erase_if(others.get_ref<Json::object_t&>(),
                [](const auto& member) { return member.first.find('@') != std::string::npos; });
  plan.members.update(others);
  if (name != body.end()) plan.members["Name"] = *name;
}

Plan PlanVolume(const Editor& editor, ResourceId storage, ResourceId collection,
                const std::string& type, const Json& body) {
  Plan plan = PlanLevel(editor, storage, body);
  if (!plan.refusal) PlanDrives(editor, storage, collection, body, plan);
  if (!plan.refusal) PlanCapacity(editor, body, plan);
  if (!plan.refusal) PlanOthers(editor, type, body, plan);
  return plan;
}

void SetLinks(Editor& editor, ResourceId id, const char* pointer, Json links) {
  const std::string count = std::string(pointer) + "@odata.count";
  if (editor.Read(id, count) != nullptr) editor.Set(id, count, links.size());
  editor.Set(id, pointer, std::move(links));
}

void LinkToDrive(Editor& editor, ResourceId drive, const std::string& volume) {
  const Json* const present = editor.Read(drive, kVolumes);
  Json links = present != nullptr && present->is_array() ? *present : Json::array();
  links.push_back({{"@odata.id", volume}});
  SetLinks(editor, drive, kVolumes, std::move(links));
}

void UnlinkFromDrive(Editor& editor, ResourceId drive, const std::string& volume) {
  const Json* const present = editor.Read(drive, kVolumes);
  if (present == nullptr || !present->is_array()) return;
  Json links = Json::array();
  for (const Json& link : *present) {
    if (redfish::LinkTarget(link) != volume) links.push_back(link);
  }
  SetLinks(editor, drive, kVolumes, std::move(links));
}

// Returns the actions of another volume of the collection, with targets below the new volume's URI.
Json ActionsLikeOthers(const Editor& editor, ResourceId collection, const std::string& uri) {
  Json actions = Json::object();
  for (const ResourceId volume : editor.Members(collection)) {
    const Json* const others = editor.Read(volume, "/Actions");
    if (others == nullptr || !others->is_object()) continue;
    for (const auto& [name, action] : others->items()) {
      if (!name.starts_with("#Volume.") || !action.is_object()) continue;
      actions[name] = action;
      actions[name]["target"] = uri + "/Actions/" + name.substr(1);
    }
    break;
  }
  return actions;
}

Response MakeVolume(Editor& editor, ResourceId collection, const std::string& type,
                    const std::vector<ResourceId>& drives, const Json& members) {
  Json links = Json::array();
  for (const ResourceId drive : drives) {
    if (IsOccupied(editor, collection, drive)) return ErrorResponse(409, "ResourceInUse");
    links.push_back({{"@odata.id", editor.Uri(drive)}});
  }
  const std::string name = editor.NewMemberName(collection);
  Json json = {{"@odata.type", type},
               {"Id", name},
               {"Name", "Volume " + name},
               {"BlockSizeBytes", 512},
               {"Status", {{"State", "Enabled"}, {"Health", "OK"}}},
               {"Operations", Json::array()},
               {"Links", {{"Drives@odata.count", links.size()}, {"Drives", std::move(links)}}}};
  json.update(members);
  Json actions = ActionsLikeOthers(editor, collection, editor.Uri(collection) + '/' + name);
  if (!actions.empty()) json["Actions"] = std::move(actions);
  const ResourceId volume = editor.AddMember(collection, name, std::move(json));
  for (const ResourceId drive : drives) LinkToDrive(editor, drive, editor.Uri(volume));
  return Created(editor, volume);
}

std::optional<ResourceId> BootFor(const Editor& editor, ApplyTime time, ResourceId resource) {
  return time == ApplyTime::kImmediate ? std::nullopt : SystemOf(editor, resource);
}

Response PostVolume(Editor& editor, const Call& call) {
  const ResourceId collection = call.resource;
  const auto storage = editor.Parent(collection);
  const std::string type = MemberType(editor, collection);
  if (!storage || !editor.IsA(*storage, "Storage") || type.empty()) {
    return PostMember(editor, collection, call.body);
  }
  const ApplyTimeChoice when = OperationApplyTime(call.body, &editor.Read(collection));
  if (when.refusal.has_value()) return *when.refusal;
  Plan plan = PlanVolume(editor, *storage, collection, type, call.body);
  if (plan.refusal.has_value()) return *plan.refusal;
  const auto make = [collection, type, drives = std::move(plan.drives),
                     members = std::move(plan.members)](Editor& later) {
    return MakeVolume(later, collection, type, drives, members);
  };
  return StartTask(editor, {.name = "Create volume",
                            .complete = make,
                            .awaits_boot_of = BootFor(editor, when.time, collection)});
}

Response RemoveVolume(Editor& editor, ResourceId volume, const std::string& uri) {
  if (editor.Find(uri) != volume) return ErrorResponse(404, "ResourceMissingAtURI", {uri});
  const std::vector<ResourceId> drives = editor.LinkedAll(volume, kDrives);
  editor.RemoveMember(volume);
  for (const ResourceId drive : drives) UnlinkFromDrive(editor, drive, uri);
  return Done(editor);
}

Response DeleteVolume(Editor& editor, const Call& call) {
  const ResourceId volume = call.resource;
  const auto collection = editor.Parent(volume);
  if (IsRawDevice(editor, volume) || !collection) {
    Response response = ErrorResponse(405, "OperationNotAllowed");
    response.allow = "GET, HEAD, PATCH";
    return response;
  }
  const ApplyTimeChoice when = OperationApplyTime(call.body, &editor.Read(*collection));
  if (when.refusal.has_value()) return *when.refusal;
  const auto remove = [volume, uri = editor.Uri(volume)](Editor& later) {
    return RemoveVolume(later, volume, uri);
  };
  return StartTask(editor, {.name = "Delete volume",
                            .complete = remove,
                            .awaits_boot_of = BootFor(editor, when.time, volume)});
}

Response WorkOnVolume(Editor& editor, const Call& call) {
  const ApplyTimeChoice when =
      OperationApplyTime(call.body, editor.Read(call.resource, call.action->pointer));
  if (when.refusal.has_value()) return *when.refusal;
  return StartTask(editor, {.name = call.action->name,
                            .complete = [](Editor& later) { return Done(later); },
                            .awaits_boot_of = BootFor(editor, when.time, call.resource)});
}

void RemoveVolumes(Editor& editor, const std::vector<ResourceId>& volumes) {
  for (const ResourceId volume : volumes) {
    const std::string uri = editor.Uri(volume);
    if (!IsRawDevice(editor, volume)) RemoveVolume(editor, volume, uri);
  }
}

Response EraseDrive(Editor& editor, const Call& call) {
  const auto erase = [drive = call.resource](Editor& later) {
    RemoveVolumes(later, later.LinkedAll(drive, kVolumes));
    return Done(later);
  };
  return StartTask(editor, {.name = "Secure erase", .complete = erase});
}

Response ResetStorage(Editor& editor, const Call& call) {
  const std::string type = redfish::TextAt(call.body, "ResetType");
  if (type.empty()) {
    return ErrorResponse(400, "ActionParameterMissing", {call.action->name, "ResetType"});
  }
  const ResourceId storage = call.resource;
  const auto volumes = editor.Linked(storage, "/Volumes");
  if (type == "ResetAll" && volumes) RemoveVolumes(editor, editor.Members(*volumes));
  const Json& captured = *editor.resource(storage).json;
  for (const auto& [name, value] : captured.items()) {
    if (name != "@odata.etag") editor.Set(storage, redfish::AppendPointer("", name), value);
  }
  return Done(editor);
}

Response SetEncryptionKey(Editor& editor, const Call& call) {
  editor.SetPresent(call.resource, "/EncryptionMode", "UseLocalKey");
  return Done(editor);
}

}  // namespace

void AddVolumes(HandlerTable& handlers) {
  handlers.OnAction("Drive.SecureErase", &EraseDrive);
  handlers.OnAction("Storage.ResetToDefaults", &ResetStorage);
  handlers.OnAction("Storage.SetEncryptionKey", &SetEncryptionKey);
  handlers.On(Method::kPost, "VolumeCollection", &PostVolume);
  handlers.On(Method::kDelete, "Volume", &DeleteVolume);
  handlers.OnAction("Volume.Initialize", &WorkOnVolume);
  handlers.OnAction("Volume.CheckConsistency", &WorkOnVolume);
}

}  // namespace shoal::mockserver
