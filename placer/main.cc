// SPDX-License-Identifier: Apache-2.0
#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "placement/device_set.h"
#include "placement/distribution_search.h"
#include "placement/found_line.h"
#include "placement/graph_file.h"
#include "placer/sequence_search.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/program.h"
#include "platform/runtime/stop_signals.h"

namespace {

using namespace shoal;

struct PlacerFlags {
  std::string graph;
  bool by_colocation = false;
  std::string devices;
  std::vector<std::string> device_overrides;
  std::vector<std::string> search_overrides;
  std::uint64_t evaluations = 0;
  std::uint64_t seed = 1;
  double seconds = std::numeric_limits<double>::infinity();
};

absl::StatusOr<placement::Found> Run(const PlacerFlags& flags) {
  constexpr auto kBetweenLines = std::chrono::milliseconds(200);
  const runtime::StopSignals signals;
  SHOAL_ASSIGN_OR_RETURN(
      const placement::Graph graph,
      placement::LoadGraph(flags.graph, flags.by_colocation ? placement::Grouping::kColocation
                                                            : placement::Grouping::kName));
  SHOAL_ASSIGN_OR_RETURN(const placement::DeviceSet devices,
                         placement::LoadDevices(flags.devices, flags.device_overrides));
  SHOAL_ASSIGN_OR_RETURN(const placement::DistributionRules rules,
                         placement::ParseDistributionRules(flags.search_overrides));
  SHOAL_ASSIGN_OR_RETURN(placement::Simulator simulator,
                         placement::Simulator::Create(graph, devices));
  runtime::TimePoint said = runtime::SystemClock().Now();
  return placer::SearchBySequence(rules.reinforce, graph, simulator,
                                  {.evaluations = flags.evaluations,
                                   .seed = flags.seed,
                                   .progress =
                                       [&](std::uint64_t tried) {
                                         const runtime::TimePoint now =
                                             runtime::SystemClock().Now();
                                         if (now - said < kBetweenLines) return;
                                         said = now;
                                         std::cout << "tried " << tried << std::endl;
                                       },
                                   .seconds = flags.seconds,
                                   .stop = [&signals] { return signals.pending(); }});
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Searches a placement by a recurrent policy with libtorch, for `shoal place`, which starts "
      "it. "
      "It says \"tried N\" while it works, and at last \"found\" with a line of JSON, or "
      "\"failed\" "
      "with the reason.",
      "placer");
  PlacerFlags flags;
  app.add_option("GRAPH", flags.graph, "file of the network's operations")->required();
  app.add_flag("--by-colocation", flags.by_colocation,
               "groups are what is colocated, not what the file says");
  app.add_option("--devices", flags.devices, "file of devices and links")->required();
  app.add_option("--set-device", flags.device_overrides, "section.key=value over that file")
      ->allow_extra_args(false);
  app.add_option("--set-search", flags.search_overrides, "section.key=value of a search")
      ->allow_extra_args(false);
  app.add_option("--evaluations", flags.evaluations, "placements that are tried")
      ->check(CLI::Range(std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()))
      ->required();
  app.add_option("--seed", flags.seed, "every random draw is a function of it");
  app.add_option("--seconds", flags.seconds, "the time that it may take");
  app.set_version_flag("--version", runtime::GitRevision());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : runtime::kExitConfiguration;
  }
  // With one thread the same seed gives the same sums, and small operations wait for nobody.
  at::set_num_threads(1);
  const absl::StatusOr<placement::Found> found = Run(flags);
  if (found.ok()) {
    std::cout << "found " << placement::ToLine(*found) << std::endl;
    return 0;
  }
  std::string reason = runtime::Message(found.status());
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  std::cout << "failed " << reason << std::endl;
  return absl::IsInvalidArgument(found.status()) ? runtime::kExitPermanent : runtime::kExitFailed;
}
