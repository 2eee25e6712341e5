// SPDX-License-Identifier: Apache-2.0
#include "placement/peers.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "placement/gradual_placement.h"
#include "placement/group_graph.h"
#include "placement/min_cut.h"
#include "placement/rules.h"
#include "placement/search.h"

namespace shoal::placement {
namespace {

absl::Status CheckSearches(const std::vector<std::string>& names) {
  std::set<std::string> seen;
  const std::vector<std::string> all = SearchNames();
  for (const std::string& name : names) {
    if (std::find(all.begin(), all.end(), name) == all.end()) {
      return runtime::InvalidArgument("there is no search \"" + name + "\"; there are " +
                                      absl::StrJoin(all, ", "));
    }
    if (!seen.insert(name).second) {
      return runtime::InvalidArgument("the search \"" + name + "\" is named twice");
    }
  }
  return absl::OkStatus();
}

// The time of several methods that run one after the other.
class Shares {
 public:
  Shares(const PeerOptions& options, std::size_t methods)
      : options_(options), start_(options.clock.Now()), methods_(methods) {}

  // Returns the seconds of the next method, or nothing if it is not to begin.
  std::optional<double> Next() {
    const double left = options_.seconds - Passed();
    const double share = left / static_cast<double>(methods_--);
    if (share <= 0 || options_.stop()) return std::nullopt;
    return share;
  }

  // The seconds since the first method.
  double Passed() const {
    return std::chrono::duration<double>(options_.clock.Now() - start_).count();
  }

 private:
  const PeerOptions& options_;
  const runtime::TimePoint start_;
  std::size_t methods_;
};

// Nothing if it was stopped before it had placed all groups.
absl::StatusOr<std::optional<Placement>> FirstChoices(const Graph& graph, const DeviceSet& devices,
                                                      const PeerOptions& options, Shares& shares) {
  const std::optional<double> seconds = shares.Next();
  if (!seconds) return std::nullopt;
  const double end = shares.Passed() + *seconds;
  absl::StatusOr<Placement> placement =
      PlaceByFirstChoices(graph, devices, [&] { return shares.Passed() >= end || options.stop(); });
  if (absl::IsCancelled(placement.status())) return std::nullopt;
  SHOAL_RETURN_IF_ERROR(placement.status());
  return *std::move(placement);
}

// REQUIRES: `name` is one of SearchNames().
absl::StatusOr<Found> Search(const std::string& name, const PeerOptions& peers,
                             const Placement& start, const GroupGraph& groups, Simulator& simulator,
                             const SearchOptions& options) {
  if (name == "annealing") return Anneal(simulator, start, groups.order, options);
  if (name == "placement-reinforce") return peers.reinforce(options);
  const DistributionRules& rules = peers.rules;
  // Draws have names of their own, so that figures stay what they were when a search is renamed.
  struct Known {
    std::string_view name;
    std::string_view draws;
    const DistributionRule& rule;
  };
  for (const Known& known :
       {Known{"placement-cem", "cross-entropy", rules.cem},
        Known{"softmax-reinforce", "reinforce", rules.softmax_reinforce},
        Known{"placement-ppo", "ppo", rules.ppo}, Known{"post", "post", rules.post}}) {
    if (name != known.name) continue;
    return SearchByDistribution(known.draws, known.rule, groups, simulator, options);
  }
  return BruteForce(simulator, options);
}

}  // namespace

std::vector<std::string> SearchNames() {
  std::vector<std::string> names;
  for (const SearchKind& search : kSearches) names.emplace_back(search.name);
  return names;
}

absl::StatusOr<Peer> JudgePlacement(Simulator& simulator, const std::string& method,
                                    Placement placement) {
  SHOAL_ASSIGN_OR_RETURN(const Step step, simulator.Run(placement));
  return Peer{.method = method,
              .found = {.placement = std::move(placement),
                        .step = step,
                        .evaluations = 1,
                        .improvements = {{.evaluations = 1, .step = step}}}};
}

absl::StatusOr<std::vector<Peer>> ComparePeers(const Graph& graph, const DeviceSet& devices,
                                               Simulator& simulator, const PeerOptions& options) {
  SHOAL_RETURN_IF_ERROR(CheckSearches(options.searches));
  const GroupGraph groups = MakeGroupGraph(graph, simulator);
  const std::vector<std::size_t> fastest = FastestDevices(simulator);
  std::vector<Peer> peers;
  const auto judge = [&](const std::string& method,
                         absl::StatusOr<Placement> placement) -> absl::Status {
    SHOAL_RETURN_IF_ERROR(placement.status());
    SHOAL_ASSIGN_OR_RETURN(Peer peer, JudgePlacement(simulator, method, *std::move(placement)));
    peers.push_back(std::move(peer));
    return absl::OkStatus();
  };
  std::vector<std::string> searches = options.searches;
  if (!CanTryAll(simulator, options.evaluations)) std::erase(searches, "brute-force");
  const bool chooses = devices.devices.size() <= kMostGradualDevices &&
                       graph.groups.size() * devices.devices.size() <= options.evaluations;
  Shares shares(options, searches.size() + (chooses ? 1 : 0));
  const Placement start = OnOneDevice(simulator);
  SHOAL_RETURN_IF_ERROR(judge("one device", start));
  SHOAL_RETURN_IF_ERROR(judge("even split", SplitEvenly(groups, fastest)));
  SHOAL_RETURN_IF_ERROR(judge("expert", SplitByLayer(graph, groups, fastest)));
  SHOAL_RETURN_IF_ERROR(judge("HEFT", Heft(graph, devices, simulator)));
  if (chooses) {
    SHOAL_ASSIGN_OR_RETURN(std::optional<Placement> chosen,
                           FirstChoices(graph, devices, options, shares));
    if (chosen) SHOAL_RETURN_IF_ERROR(judge("first choices", *std::move(chosen)));
  }
  SHOAL_RETURN_IF_ERROR(judge("Scotch", CutByScotch(groups, fastest)));
  SHOAL_RETURN_IF_ERROR(judge("METIS", CutByMetis(groups, fastest)));
  for (const std::string& name : searches) {
    const std::optional<double> seconds = shares.Next();
    if (!seconds) continue;
    const SearchOptions search = {
        .evaluations = options.evaluations,
        .seed = options.seed,
        .progress = [&](std::uint64_t tried) { options.progress(name, tried); },
        .seconds = *seconds,
        .stop = options.stop,
        .clock = options.clock};
    absl::StatusOr<Found> found = Search(name, options, start, groups, simulator, search);
    if (absl::IsCancelled(found.status())) continue;
    SHOAL_RETURN_IF_ERROR(found.status());
    peers.push_back({.method = name, .found = *std::move(found)});
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
