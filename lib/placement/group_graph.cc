// SPDX-License-Identifier: Apache-2.0
#include "placement/group_graph.h"

#include <algorithm>

namespace shoal::placement {

std::vector<std::size_t> FastestDevices(const Simulator& simulator) {
  std::vector<double> total(simulator.devices());
  for (std::size_t position = 0; position < simulator.by_priority().size(); ++position) {
    for (std::size_t device = 0; device < total.size(); ++device) {
      total[device] += simulator.Seconds(position, device);
    }
  }
  constexpr double kTolerance = 1.1;
  const double most = *std::min_element(total.begin(), total.end()) * kTolerance;
  std::vector<std::size_t> fastest;
  for (std::size_t device = 0; device < total.size(); ++device) {
    if (total[device] <= most) fastest.push_back(device);
  }
  return fastest;
}

GroupGraph MakeGroupGraph(const Graph& graph, const Simulator& simulator) {
  GroupGraph result;
  result.seconds.resize(graph.groups.size());
  std::vector<bool> seen(graph.groups.size());
  const std::size_t device = FastestDevices(simulator).front();
  for (std::size_t position = 0; position < graph.operations.size(); ++position) {
    const Operation& operation = graph.operations[simulator.by_priority()[position]];
    result.seconds[operation.group] += simulator.Seconds(position, device);
    if (!seen[operation.group]) result.order.push_back(operation.group);
    seen[operation.group] = true;
    for (const Input& input : operation.inputs) {
      const std::size_t other = graph.operations[input.from].group;
      if (other == operation.group) continue;
      result.bytes[std::minmax(other, operation.group)] += input.bytes;
    }
  }
  return result;
}

}  // namespace shoal::placement
