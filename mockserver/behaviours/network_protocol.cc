// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/network_protocol.h"

#include <optional>
#include <string>

#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/patch.h"

namespace shoal::mockserver {
namespace {

std::optional<Json> PortObjection(const std::string& pointer, const Json& value) {
  const bool is_wrong =
      pointer.ends_with("/Port") && value.is_number() && (value < Json(1) || value > Json(65'535));
  if (!is_wrong) return std::nullopt;
  return ExtendedInfo("PropertyValueOutOfRange", {Excerpt(value, "Port"), "Port"}, pointer);
}

Response PatchProtocols(Editor& editor, const Call& call) {
  return Patch(editor, call.resource, call.body, {.objection = &PortObjection});
}

}  // namespace

void AddNetworkProtocol(HandlerTable& handlers) {
  handlers.On(Method::kPatch, "ManagerNetworkProtocol", &PatchProtocols);
}

}  // namespace shoal::mockserver
