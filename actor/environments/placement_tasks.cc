// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/placement_tasks.h"

#include <string>
#include <utility>

#include "placement/gradual_placement.h"
#include "placement/graph_file.h"
#include "placement/random_machine.h"
#include "placement/random_network.h"

namespace shoal::actor {
namespace {

absl::Status CheckTask(const PlacementTask& task, const PlacementOptions& options) {
  return placement::GradualPlacement::Create(task.graph, task.devices,
                                             static_cast<std::size_t>(options.choices))
      .status();
}

absl::Status CheckFiles(const PlacementTasks& tasks) {
  const PlacementOptions& options = tasks.options;
  for (std::size_t graph = 0; graph < tasks.graphs.size(); ++graph) {
    for (std::size_t devices = 0; devices < tasks.devices.size(); ++devices) {
      const absl::Status status =
          CheckTask({.graph = tasks.graphs[graph], .devices = tasks.devices[devices]}, options);
      if (status.ok()) continue;
      return runtime::Annotate(status, options.graphs[graph] + " on " + options.devices[devices]);
    }
  }
  return absl::OkStatus();
}

template <typename Item>
const Item& Any(const std::vector<Item>& items, runtime::Random& random) {
  return items[static_cast<std::size_t>(random.Below(items.size()))];
}

}  // namespace

absl::StatusOr<PlacementTask> PlacementTasks::Draw(runtime::Random& random) const {
  constexpr int kDraws = 100;
  absl::Status status;
  for (int draw = 0; draw < kDraws; ++draw) {
    PlacementTask task;
    task.graph = graphs.empty() ? placement::RandomNetwork(
                                      random, {static_cast<std::size_t>(options.least_groups),
                                               static_cast<std::size_t>(options.most_groups)})
                                : Any(graphs, random);
    task.devices =
        devices.empty() ? placement::RandomMachine(random, task.graph) : Any(devices, random);
    status = CheckTask(task, options);
    if (status.ok()) return task;
  }
  return runtime::ResourceExhausted("no task was found that fits: " + runtime::Message(status));
}

absl::StatusOr<std::shared_ptr<const PlacementTasks>> LoadPlacementTasks(
    const PlacementOptions& options) {
  if (options.least_groups > options.most_groups) {
    return runtime::InvalidArgument(
        "environment.placement.least_groups is " + std::to_string(options.least_groups) +
        ", more than most_groups, " + std::to_string(options.most_groups));
  }
  PlacementTasks tasks{.options = options, .graphs = {}, .devices = {}};
  for (const std::string& path : options.graphs) {
    SHOAL_ASSIGN_OR_RETURN(placement::Graph graph, placement::LoadGraph(path));
    tasks.graphs.push_back(std::move(graph));
  }
  for (const std::string& path : options.devices) {
    SHOAL_ASSIGN_OR_RETURN(placement::DeviceSet devices, placement::LoadDevices(path));
    tasks.devices.push_back(std::move(devices));
  }
  SHOAL_RETURN_IF_ERROR(CheckFiles(tasks));
  return std::make_shared<const PlacementTasks>(std::move(tasks));
}

}  // namespace shoal::actor
