// SPDX-License-Identifier: Apache-2.0
// The placements of all rules and searches side by side, and what limits the best of them.
//
// Pure functions; not thread-safe, since min_cut.h is not.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "placement/device_set.h"
#include "placement/distribution_search.h"
#include "placement/graph.h"
#include "placement/simulator.h"
#include "placement/trial.h"
#include "platform/runtime/clock.h"

namespace shoal::placement {

struct Peer {
  // For example "HEFT" or "annealing".
  std::string method;
  // A rule has one evaluation.
  Found found;
};

struct SearchKind {
  const char* name;
  const char* summary;
};

// All searches. Those with settings of [placement.search] are presets of `shoal place`.
inline constexpr std::array<SearchKind, 7> kSearches = {{
    {"annealing", "moves, runs and exchanges of groups; uphill ones ever less often"},
    {"placement-cem",
     "the cross-entropy method: a distribution for each group, fitted to the best"},
    {"softmax-reinforce", "the same distribution, moved by REINFORCE"},
    {"placement-ppo", "the same distribution, moved by proximal policy optimisation"},
    {"post", "both in turn: proximal policy optimisation and the fit (Gao, Chen and Li 2018)"},
    {"placement-reinforce",
     "a recurrent policy over the groups, trained by REINFORCE (Mirhoseini et al. 2017)"},
    {"brute-force", "all placements"},
}};

// The names of all searches, in that order.
std::vector<std::string> SearchNames();

struct PeerOptions {
  // In the order in which they are tried; each is a name of kSearches, and none is there twice.
  std::vector<std::string> searches = {"annealing", "placement-cem", "post", "brute-force"};
  DistributionRules rules = {};
  // Runs placement-reinforce, whose policy needs libtorch, so that it is in a program of its own.
  // CANCELLED leaves the search out, as where it was stopped before it had tried a placement.
  std::function<absl::StatusOr<Found>(const SearchOptions&)> reinforce =
      [](const SearchOptions&) -> absl::StatusOr<Found> {
    return runtime::FailedPrecondition("placement-reinforce needs the program placer");
  };
  // Of each search; the most of brute force.
  std::uint64_t evaluations = 20'000;
  std::uint64_t seed = 1;
  // The time of first choices and searches together: each gets an equal share of what is left when
  // it begins. Those for which none is left do not begin.
  double seconds = std::numeric_limits<double>::infinity();
  // Is called while a search runs, with its method and the placements it has tried.
  std::function<void(const std::string&, std::uint64_t)> progress = [](const std::string&,
                                                                       std::uint64_t) {};
  // Once it returns true, the search that runs ends with what it has found, and no other begins.
  std::function<bool()> stop = [] { return false; };
  const runtime::Clock& clock = runtime::SystemClock();
};

// A rule's placement, or a person's, as a peer of one evaluation. Errors are those of
// Simulator::Run.
absl::StatusOr<Peer> JudgePlacement(Simulator& simulator, const std::string& method,
                                    Placement placement);

// Tries the best single device, the even split and the expert's layers over the fastest devices,
// HEFT, the first choices of gradual_placement.h, where these simulate at most options.evaluations
// steps, Scotch, METIS, and the searches of the options: annealing from the best of the single
// devices, brute force only where it ends within options.evaluations. Some may fail to fit.
// INVALID_ARGUMENT naming a search that does not exist or is named twice, and the errors of
// SearchByDistribution and of options.reinforce.
absl::StatusOr<std::vector<Peer>> ComparePeers(const Graph& graph, const DeviceSet& devices,
                                               Simulator& simulator, const PeerOptions& options);

// Returns the index of the peer of least cost, the first of several. REQUIRES: there is one.
std::size_t BestPeer(const std::vector<Peer>& peers);

struct Limit {
  // A device or a channel by its name.
  std::string name;
  // The share of the step by which it would be shorter if this were twice as fast and everything
  // went on in the same order.
  double gain = 0;
};

// What limits the latest Run of `simulator`, the largest gain first, without those that gain
// nothing.
std::vector<Limit> Limits(const DeviceSet& devices, const Simulator& simulator);

}  // namespace shoal::placement
