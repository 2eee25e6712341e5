// SPDX-License-Identifier: Apache-2.0
// `shoal place GRAPH --devices FILE`, and `shoal place profile`: which device runs which operation
// of a neural network, so that a training step takes the least time, and how long it then takes.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "placement/graph_file.h"
#include "placement/peers.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// What a person typed after `shoal place`.
struct PlaceFlags {
  // The files of the graph and the devices.
  std::string graph;
  std::string devices;
  placement::Grouping grouping = placement::Grouping::kName;
  // section.key=value: those of placement.search set a search, the others go over the file of
  // devices.
  std::vector<std::string> overrides;
  std::vector<std::string> searches = placement::PeerOptions().searches;
  // The placements of each search. Without them 20,000, or as many as there is time for.
  std::optional<std::uint64_t> evaluations = std::nullopt;
  // The time of first choices, searches and refinement together; the policy's samples, too, take no
  // more than a share of it.
  std::optional<double> minutes = std::nullopt;
  std::uint64_t seed = 1;
  // The file of a placement of one's own; empty for none.
  std::string placement;
  // The folder of a run of placement whose policy is tried too; empty for none.
  std::string policy;
  // Placements that are drawn from the policy beside its greedy one.
  std::uint64_t samples = 0;
  // Placements that are tried around the policy's best one.
  std::uint64_t refine = 0;
  // Where the page and the placement are written; empty for nowhere.
  std::string page;
  std::string save;
};

struct PlaceResult {
  // What the command prints: each method's step time, what limits the best placement, and the
  // memory, work and groups of each device.
  std::string text;
  // The first error of writing the files that the flags name. Where they cannot be written is
  // looked for before the work.
  absl::Status written;
};

// Tries all methods and writes the files. Progress goes to standard error. Once `stop` returns
// true, the best placement so far is the answer, with a note. INVALID_ARGUMENT for a model in ONNX,
// saying how a graph is made of it. INVALID_ARGUMENT also for samples or refinement without a
// policy, and for a run that was trained on something else. RESOURCE_EXHAUSTED if no placement that
// was tried fits the devices' memory; other errors are those of the files.
absl::StatusOr<PlaceResult> PlaceGraph(
    const PlaceFlags& flags, const std::function<bool()>& stop = [] { return false; });

// Becomes the program `profiler` of the folder `programs`, which measures this machine's processor
// (profiler/profile.h), and returns only if that cannot be started: NOT_FOUND.
absl::Status StartProfiler(const std::string& programs, const std::vector<std::string>& arguments);

// Adds the subcommand to `app`. When it is parsed, it sets `action`, which returns the exit code.
void AddPlace(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
