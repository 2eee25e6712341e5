// SPDX-License-Identifier: Apache-2.0
#include "placement/peers.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "placement/gradual_placement.h"
#include "placement/group_graph.h"
#include "placement/min_cut.h"
#include "placement/rules.h"
#include "placement/search.h"

namespace shoal::placement {
namespace {

absl::StatusOr<Found> Judge(Simulator& simulator, Placement placement) {
  SHOAL_ASSIGN_OR_RETURN(const Step step, simulator.Run(placement));
  return Found{.placement = std::move(placement),
               .step = step,
               .evaluations = 1,
               .improvements = {{.evaluations = 1, .step = step}}};
}

absl::Status CheckSearches(const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (std::find(kSearches.begin(), kSearches.end(), name) == kSearches.end()) {
      return runtime::InvalidArgument("there is no search \"" + name + "\"; there are " +
                                      absl::StrJoin(kSearches, ", "));
    }
    if (!seen.insert(name).second) {
      return runtime::InvalidArgument("the search \"" + name + "\" is named twice");
    }
  }
  return absl::OkStatus();
}

// REQUIRES: `name` is one of kSearches.
absl::StatusOr<std::optional<Found>> Search(const std::string& name, const DistributionRules& rules,
                                            const Placement& start, const GroupGraph& groups,
                                            Simulator& simulator, const SearchOptions& options) {
  if (name == "annealing") return Anneal(simulator, start, groups.order, options);
  for (const auto& [known, rule] :
       {std::pair("cross-entropy", &rules.cross_entropy), std::pair("reinforce", &rules.reinforce),
        std::pair("ppo", &rules.ppo), std::pair("post", &rules.post)}) {
    if (name == known) return SearchByDistribution(name, *rule, groups, simulator, options);
  }
  return BruteForce(simulator, options);
}

}  // namespace

absl::StatusOr<std::vector<Peer>> ComparePeers(const Graph& graph, const DeviceSet& devices,
                                               Simulator& simulator, const PeerOptions& options) {
  SHOAL_RETURN_IF_ERROR(CheckSearches(options.searches));
  const GroupGraph groups = MakeGroupGraph(graph, simulator);
  const std::vector<std::size_t> fastest = FastestDevices(simulator);
  std::vector<Peer> peers;
  const auto judge = [&](const std::string& method,
                         absl::StatusOr<Placement> placement) -> absl::Status {
    SHOAL_RETURN_IF_ERROR(placement.status());
    SHOAL_ASSIGN_OR_RETURN(Found found, Judge(simulator, *std::move(placement)));
    peers.push_back({.method = method, .found = std::move(found)});
    return absl::OkStatus();
  };
  const Placement start = OnOneDevice(simulator);
  SHOAL_RETURN_IF_ERROR(judge("one device", start));
  SHOAL_RETURN_IF_ERROR(judge("even split", SplitEvenly(groups, fastest)));
  SHOAL_RETURN_IF_ERROR(judge("HEFT", Heft(graph, devices, simulator)));
  if (devices.devices.size() <= kMostGradualDevices &&
      graph.groups.size() * devices.devices.size() <= options.evaluations) {
    SHOAL_RETURN_IF_ERROR(judge("first choices", PlaceByFirstChoices(graph, devices)));
  }
  SHOAL_RETURN_IF_ERROR(judge("Scotch", CutByScotch(groups, fastest)));
  SHOAL_RETURN_IF_ERROR(judge("METIS", CutByMetis(groups, fastest)));
  for (const std::string& name : options.searches) {
    const SearchOptions search = {
        .evaluations = options.evaluations,
        .seed = options.seed,
        .progress = [&](std::uint64_t tried) { options.progress(name, tried); }};
    SHOAL_ASSIGN_OR_RETURN(std::optional<Found> found,
                           Search(name, options.rules, start, groups, simulator, search));
    if (found) peers.push_back({.method = name, .found = *std::move(found)});
  }
  return peers;
}

std::size_t BestPeer(const std::vector<Peer>& peers) {
  const auto best = std::min_element(peers.begin(), peers.end(), [](const Peer& a, const Peer& b) {
    return a.found.step.cost() < b.found.step.cost();
  });
  return static_cast<std::size_t>(best - peers.begin());
}

std::vector<Limit> Limits(const DeviceSet& devices, const Simulator& simulator) {
  constexpr double kFaster = 2;
  constexpr double kLeastGain = 1e-6;
  std::vector<double> device_speedup(devices.devices.size(), 1);
  std::vector<double> channel_speedup(devices.channels.size(), 1);
  const double before = simulator.RetimedSeconds(device_speedup, channel_speedup);
  std::vector<Limit> limits;
  const auto try_one = [&](const std::string& name, double& speedup) {
    speedup = kFaster;
    const double after = simulator.RetimedSeconds(device_speedup, channel_speedup);
    speedup = 1;
    if (before - after > kLeastGain * before) {
      limits.push_back({.name = name, .gain = 1 - after / before});
    }
  };
  for (std::size_t i = 0; i < device_speedup.size(); ++i) {
    try_one(devices.devices[i].name, device_speedup[i]);
  }
  for (std::size_t i = 0; i < channel_speedup.size(); ++i) {
    try_one(devices.channels[i].name, channel_speedup[i]);
  }
  std::stable_sort(limits.begin(), limits.end(),
                   [](const Limit& a, const Limit& b) { return a.gain > b.gain; });
  return limits;
}

}  // namespace shoal::placement
