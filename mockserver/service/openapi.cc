// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/openapi.h"

#include "mockserver/messages/extended_info.h"
#include "mockserver/service/world.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

Json OperationOf(const std::string& summary) {
  return {{"summary", summary}, {"responses", {{"default", {{"description", summary}}}}}};
}

}  // namespace

std::string OpenApiOf(const World& world) {
  Json paths = Json::object();
  ResourceId id = 0;
  for (const World::Resource& resource : world.resources()) {
    Json& path = paths[resource.uri];
    path["get"] = OperationOf("Reads the resource");
    if (resource.methods.post) path["post"] = OperationOf("Adds a member");
    if (resource.methods.patch) path["patch"] = OperationOf("Changes properties");
    if (resource.methods.remove) path["delete"] = OperationOf("Removes the resource");
    for (const auto& [target, action] : World::ActionsIn(*resource.json, id++)) {
      paths[target]["post"] = OperationOf(action.name);
    }
  }
  const std::string version = redfish::TextAt(world.capture().service_root(), "RedfishVersion");
  return Serialise({{"openapi", "3.0.1"},
                    {"info", {{"title", "Redfish service"}, {"version", version}}},
                    {"paths", std::move(paths)}});
}

}  // namespace shoal::mockserver
