// SPDX-License-Identifier: Apache-2.0
// The search `placement-reinforce`: the program `placer`, which has libtorch, as a child process.
#pragma once

#include <string>
#include <vector>

#include "placement/graph_file.h"
#include "placement/simulator.h"
#include "placement/trial.h"

namespace shoal::cli {

// What is placed, as `shoal place` was told.
struct PlacerTask {
  // The folder of the programs.
  std::string programs;
  // The files of the graph, with how it is grouped, and of the devices.
  std::string graph;
  placement::Grouping grouping = placement::Grouping::kName;
  std::string devices;
  // section.key=value: those over the file of devices, and those of searches.
  std::vector<std::string> device_overrides;
  std::vector<std::string> search_overrides;
};

// NOT_FOUND when there is no such program to start.
absl::Status CheckPlacer(const PlacerTask& task);

// Runs the program to its end and returns what it has found; once options.stop returns true, or the
// time has passed, that is the best so far, or CANCELLED if there is none. A program that does not
// answer within ten seconds of that is killed. `simulator` is of the same graph and devices. Other
// errors are in the program's own words, or name the last lines of its standard error.
// REQUIRES: the main thread calls.
absl::StatusOr<placement::Found> RunPlacer(const PlacerTask& task, placement::Simulator& simulator,
                                           const placement::SearchOptions& options);

}  // namespace shoal::cli
