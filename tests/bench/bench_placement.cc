// SPDX-License-Identifier: Apache-2.0
// Measures how many placements one core simulates in a second.
//
//   bench_placement [--graph data/placement/graphs/resnet50.json]
//       [--devices data/placement/devices/k80.toml] [--seconds 2]
//
// Random placements of the graph's groups are simulated, and then random placements of single
// operations. The last line is one JSON object with both rates.
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "placement/device_set.h"
#include "placement/graph_file.h"
#include "placement/simulator.h"
#include "platform/runtime/random.h"
#include "tests/bench/flags.h"

namespace {

using namespace shoal;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::string graph = "data/placement/graphs/resnet50.json";
  std::string devices = "data/placement/devices/k80.toml";
  double seconds = 2;
};

absl::StatusOr<double> Rate(const placement::Graph& graph, const placement::DeviceSet& devices,
                            double seconds) {
  SHOAL_ASSIGN_OR_RETURN(placement::Simulator simulator,
                         placement::Simulator::Create(graph, devices));
  runtime::Random random(1);
  std::vector<placement::Placement> placements(64, placement::Placement(graph.groups.size()));
  for (placement::Placement& placement : placements) {
    for (std::size_t& device : placement) {
      device = static_cast<std::size_t>(random.Below(devices.devices.size()));
    }
  }
  std::size_t count = 0;
  double passed = 0;
  const Clock::time_point start = Clock::now();
  while (passed < seconds) {
    for (const placement::Placement& placement : placements) {
      SHOAL_RETURN_IF_ERROR(simulator.Run(placement).status());
    }
    count += placements.size();
    passed = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return static_cast<double>(count) / passed;
}

absl::StatusOr<nlohmann::json> Measure(const Settings& settings) {
  SHOAL_ASSIGN_OR_RETURN(placement::Graph graph, placement::LoadGraph(settings.graph));
  SHOAL_ASSIGN_OR_RETURN(const placement::DeviceSet devices,
                         placement::LoadDevices(settings.devices));
  nlohmann::json line = {{"bench", "placement"},
                         {"graph", graph.name},
                         {"operations", graph.operations.size()},
                         {"groups", graph.groups.size()},
                         {"devices", devices.devices.size()}};
  SHOAL_ASSIGN_OR_RETURN(line["grouped_per_second"], Rate(graph, devices, settings.seconds));
  graph.groups.clear();
  for (std::size_t i = 0; i < graph.operations.size(); ++i) {
    graph.groups.push_back(graph.operations[i].name);
    graph.operations[i].group = i;
  }
  SHOAL_ASSIGN_OR_RETURN(line["ungrouped_per_second"], Rate(graph, devices, settings.seconds));
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("Measures how many placements one core simulates in a second");
  flags.Add("--graph", settings.graph).ShowDefault();
  flags.Add("--devices", settings.devices).ShowDefault();
  flags.Add("--seconds", settings.seconds).ShowDefault();
  if (const auto code = flags.Parse(argc, argv)) return *code;
  const absl::StatusOr<nlohmann::json> line = Measure(settings);
  if (!line.ok()) {
    std::fprintf(stderr, "%s\n", line.status().ToString().c_str());
    return 1;
  }
  std::printf("%s\n", line->dump().c_str());
  return 0;
}
