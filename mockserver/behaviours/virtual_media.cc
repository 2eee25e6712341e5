// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/virtual_media.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "mockserver/messages/extended_info.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

// The properties with which a slot describes its medium.
constexpr std::array kProperties = {
    "Image",    "ImageName",     "ConnectedVia", "TransferMethod", "TransferProtocolType",
    "UserName", "WriteProtected"};

// A medium may be in the slot without being inserted, that is, without being connected.
bool IsOccupied(const Editor& editor, ResourceId slot) {
  // Some services write a word as the image of an empty slot.
  const std::string image = editor.Text(slot, "/Image");
  return editor.IsTrue(slot, "/Inserted") || (!image.empty() && image != "None");
}

bool IsImageUri(const std::string& text) {
  const std::size_t scheme = text.find("://");
  const bool named = scheme != std::string::npos && scheme > 0 && scheme + 3 < text.size();
  return named || (text.starts_with('/') && text.size() > 1);
}

Response InsertMedia(Editor& editor, const Call& call) {
  const ResourceId slot = call.resource;
  const World::Action& action = *call.action;
  const Json& parameters = call.body;
  const auto image = parameters.find("Image");
  if (image == parameters.end() || !image->is_string()) {
    return ErrorResponse(400, "ActionParameterMissing", {action.name, "Image"});
  }
  const std::string uri = image->get<std::string>();
  if (!IsImageUri(uri)) {
    return ErrorResponse(400, "ActionParameterValueFormatError", {uri, "Image", action.name});
  }
  if (IsOccupied(editor, slot)) return ErrorResponse(409, "ResourceInUse");
  editor.Set(slot, "/Image", uri);
  editor.SetPresent(slot, "/ImageName", uri.substr(uri.rfind('/') + 1));
  editor.SetPresent(slot, "/ConnectedVia", "URI");
  editor.SetPresent(slot, "/WriteProtected", true);
  for (const char* name : kProperties) {
    const auto given = parameters.find(name);
    if (given != parameters.end()) editor.SetPresent(slot, std::string("/") + name, *given);
  }
  const auto inserted = parameters.find("Inserted");
  editor.Set(slot, "/Inserted", inserted == parameters.end() || *inserted != Json(false));
  return Done(editor);
}

Response EjectMedia(Editor& editor, const Call& call) {
  const ResourceId slot = call.resource;
  if (!IsOccupied(editor, slot)) return Done(editor);
  // Vendors show empty slots differently, so a slot that was captured empty looks as captured.
  const Json& captured = *editor.resource(slot).json;
  const bool was_empty =
      captured.value("Inserted", Json()) == Json(false) &&
      (captured.value("Image", Json("None")).is_null() ||
       redfish::TextAt(captured, "Image").empty() || redfish::TextAt(captured, "Image") == "None");
  for (const char* name : kProperties) {
    const Json nothing = std::string_view(name) == "ConnectedVia" ? Json("NotConnected") : Json();
    editor.SetPresent(slot, std::string("/") + name,
                      was_empty ? captured.value(name, nothing) : nothing);
  }
  editor.Set(slot, "/Inserted", false);
  return Done(editor);
}

std::string InsertedDisc(const Editor& editor, ResourceId system) {
  std::vector<ResourceId> owners = editor.LinkedAll(system, "/Links/ManagedBy");
  owners.insert(owners.begin(), system);
  for (const ResourceId owner : owners) {
    const auto slots = editor.Linked(owner, "/VirtualMedia");
    if (!slots) continue;
    for (const ResourceId slot : editor.Members(*slots)) {
      const Json* const types = editor.Read(slot, "/MediaTypes");
      const bool takes_discs = types != nullptr && types->is_array() &&
                               std::find(types->begin(), types->end(), "CD") != types->end();
      if (takes_discs && editor.IsTrue(slot, "/Inserted")) return editor.Text(slot, "/Image");
    }
  }
  return {};
}

void NameDisc(Editor& editor, ResourceId system, Json& boot) {
  if (boot["target"] == "Cd") boot["image"] = InsertedDisc(editor, system);
}

}  // namespace

void AddVirtualMedia(HandlerTable& handlers) {
  handlers.OnBoot(BootStage::kStart, &NameDisc);
  handlers.OnAction("VirtualMedia.InsertMedia", &InsertMedia);
  handlers.OnAction("VirtualMedia.EjectMedia", &EjectMedia);
}

}  // namespace shoal::mockserver
