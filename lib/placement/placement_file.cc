// SPDX-License-Identifier: Apache-2.0
#include "placement/placement_file.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "platform/content/parse_json.h"
#include "platform/runtime/atomic_file.h"

namespace shoal::placement {

absl::StatusOr<Placement> ParsePlacement(std::string_view text, const Graph& graph,
                                         const DeviceSet& devices) {
  const nlohmann::json file = content::ParseJson(text);
  const auto placed = file.is_object() ? file.find("placement") : file.end();
  if (placed == file.end() || !placed->is_object()) {
    return runtime::InvalidArgument("the file needs the object \"placement\"");
  }
  std::map<std::string, std::size_t> groups;
  for (std::size_t i = 0; i < graph.groups.size(); ++i) groups.emplace(graph.groups[i], i);
  std::map<std::string, std::size_t> names;
  for (std::size_t i = 0; i < devices.devices.size(); ++i) {
    names.emplace(devices.devices[i].name, i);
  }
  Placement placement(graph.groups.size(), devices.devices.size());
  for (const auto& [name, value] : placed->items()) {
    const auto group = groups.find(name);
    if (group == groups.end()) {
      return runtime::InvalidArgument("the graph has no group \"" + name + "\"");
    }
    const auto device = value.is_string() ? names.find(value.get<std::string>()) : names.end();
    if (device == names.end()) {
      return runtime::InvalidArgument(
          "group \"" + name + "\" is on " +
          value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
          ", which is no device");
    }
    placement[group->second] = device->second;
  }
  const auto missing = std::find(placement.begin(), placement.end(), devices.devices.size());
  if (missing != placement.end()) {
    return runtime::InvalidArgument(
        "group \"" + graph.groups[static_cast<std::size_t>(missing - placement.begin())] +
        "\" has no device");
  }
  return placement;
}

absl::StatusOr<Placement> LoadPlacement(const std::string& path, const Graph& graph,
                                        const DeviceSet& devices) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(path, kMostBytes));
  absl::StatusOr<Placement> placement = ParsePlacement(text, graph, devices);
  if (!placement.ok()) return runtime::Annotate(placement.status(), path);
  return placement;
}

}  // namespace shoal::placement
