// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/captured_state.h"

#include <string>
#include <vector>

#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

void RemoveNewMembers(Editor& editor, ResourceId collection) {
  if (editor.Read(collection, "/Members") == nullptr) return;
  for (const ResourceId member : editor.Members(collection)) {
    if (!editor.world().Find(editor.Uri(member)).has_value()) editor.RemoveMember(member);
  }
}

void Restore(Editor& editor, const World::Resource& captured) {
  const auto present = editor.Find(captured.uri);
  if (!present) {
    editor.Create(captured.uri, *captured.json);
    return;
  }
  RemoveNewMembers(editor, *present);
  for (const auto& [name, value] : captured.json->items()) {
    if (name == "@odata.etag") continue;
    editor.Set(*present, redfish::AppendPointer("", name), value);
  }
}

}  // namespace

void RestoreCaptured(Editor& editor, std::string_view uri,
                     const std::function<bool(const World::Resource&)>& keeps) {
  const World& world = editor.world();
  std::vector<std::string_view> kept;
  const auto restore = [&](const World::Resource& captured) {
    for (const std::string_view above : kept) {
      if (redfish::IsAtOrBelow(captured.uri, above)) return;
    }
    if (keeps && keeps(captured)) {
      kept.push_back(captured.uri);
    } else {
      Restore(editor, captured);
    }
  };
  if (const auto id = world.Find(uri)) restore(world.resource(*id));
  for (const World::Resource& captured : world.Below(uri)) restore(captured);
}

}  // namespace shoal::mockserver
