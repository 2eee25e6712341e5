// SPDX-License-Identifier: Apache-2.0
#include "small_graphs.h"

#include <algorithm>
#include <string>

namespace shoal::placement {
namespace {

std::size_t Below(runtime::Random& random, std::size_t bound) {
  return static_cast<std::size_t>(random.Below(bound));
}

double Small(runtime::Random& random, std::size_t bound) {
  return static_cast<double>(Below(random, bound));
}

}  // namespace

Graph RandomGraph(runtime::Random& random, std::size_t most_operations, std::size_t most_groups) {
  Graph graph;
  const std::size_t count = 1 + Below(random, most_operations);
  const std::size_t groups = 1 + Below(random, std::min(count, most_groups));
  for (std::size_t group = 0; group < groups; ++group) {
    graph.groups.push_back("group " + std::to_string(group));
  }
  for (std::size_t i = 0; i < count; ++i) {
    Operation operation;
    operation.name = "operation " + std::to_string(i);
    operation.kind = Below(random, 2) == 0 ? "conv" : "norm";
    operation.group = i < groups ? i : Below(random, groups);
    operation.flops = Small(random, 4);
    operation.parameter_bytes = Small(random, 3);
    operation.activation_bytes = Small(random, 4);
    graph.operations.push_back(operation);
  }
  // Inputs go from a random order's earlier operations to later ones, now and then twice.
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  runtime::Shuffle<std::size_t>(order, random);
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t inputs = Below(random, 4); inputs > 0; --inputs) {
      graph.operations[order[i]].inputs.push_back(
          {.from = order[Below(random, i)], .bytes = Small(random, 4)});
    }
  }
  return graph;
}

DeviceSet RandomDevices(runtime::Random& random, std::size_t most_devices) {
  DeviceSet set;
  const std::size_t count = 1 + Below(random, most_devices);
  for (std::size_t i = 0; i < count; ++i) {
    Device device{.name = "device " + std::to_string(i),
                  .memory_bytes = 1000,
                  .speed = 1 + Small(random, 2),
                  .kind_speed = {},
                  .memory_speed = 4 + Small(random, 2),
                  .overhead = Small(random, 2)};
    if (Below(random, 2) == 0) device.kind_speed["conv"] = 2;
    set.devices.push_back(device);
  }
  const std::size_t channels = 1 + Below(random, count * count);
  for (std::size_t i = 0; i < channels; ++i) {
    set.channels.push_back({.name = "channel " + std::to_string(i),
                            .bandwidth = 1 + Small(random, 2),
                            .latency = Small(random, 2)});
  }
  for (std::size_t i = 0; i < count * count; ++i) {
    set.channel_between.push_back(Below(random, channels));
  }
  return set;
}

Placement RandomPlacement(runtime::Random& random, std::size_t groups, std::size_t devices) {
  Placement placement(groups);
  for (std::size_t& device : placement) device = Below(random, devices);
  return placement;
}

DeviceSet EqualDevices(std::size_t count, double memory_bytes) {
  DeviceSet set;
  for (std::size_t i = 0; i < count; ++i) {
    set.devices.push_back({.name = "device " + std::to_string(i),
                           .memory_bytes = memory_bytes,
                           .speed = 1,
                           .kind_speed = {},
                           .memory_speed = 1e18,
                           .overhead = 0});
  }
  for (std::size_t i = 0; i < count * count; ++i) {
    set.channels.push_back({.name = "channel " + std::to_string(i), .bandwidth = 1, .latency = 0});
    set.channel_between.push_back(i);
  }
  return set;
}

void AddOperation(Graph& graph, double flops, double activation_bytes,
                  const std::vector<std::size_t>& inputs) {
  Operation operation;
  operation.name = "operation " + std::to_string(graph.operations.size());
  operation.group = graph.groups.size();
  operation.flops = flops;
  operation.activation_bytes = activation_bytes;
  for (const std::size_t from : inputs) {
    operation.inputs.push_back({.from = from, .bytes = graph.operations[from].activation_bytes});
  }
  graph.groups.push_back(operation.name);
  graph.operations.push_back(std::move(operation));
}

}  // namespace shoal::placement
