// SPDX-License-Identifier: Apache-2.0
#include "placement/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "platform/runtime/random.h"

namespace shoal::placement {
namespace {

std::size_t Draw(runtime::Random& random, std::size_t bound) {
  return static_cast<std::size_t>(random.Below(bound));
}

void Move(runtime::Random& random, const std::vector<std::size_t>& order, std::size_t devices,
          Placement& placement) {
  const std::size_t device = Draw(random, devices);
  const std::size_t one = Draw(random, order.size());
  const std::size_t other = Draw(random, order.size());
  switch (random.Below(3)) {
    case 0:
      placement[order[one]] = device;
      break;
    case 1:
      for (std::size_t i = std::min(one, other); i <= std::max(one, other); ++i) {
        placement[order[i]] = device;
      }
      break;
    default:
      std::swap(placement[order[one]], placement[order[other]]);
  }
}

}  // namespace

absl::StatusOr<Found> Anneal(Simulator& simulator, const Placement& start,
                             const std::vector<std::size_t>& order, const SearchOptions& options) {
  constexpr double kFirst = 0.1;
  constexpr double kLast = 1e-4;
  Trial trial(simulator, options, Repeats::kFree);
  runtime::Random random(runtime::DeriveSeed(options.seed, "annealing"));
  Placement placement = start;
  SHOAL_ASSIGN_OR_RETURN(double cost, trial.Cost(placement));
  const bool start_fits = trial.best().fits();
  double scale = cost;
  Placement next;
  while (!trial.Ended()) {
    if (!start_fits && trial.best().fits()) scale = trial.best().seconds;
    const double temperature = scale * kFirst * std::pow(kLast / kFirst, trial.Progress());
    next = placement;
    Move(random, order, simulator.devices(), next);
    SHOAL_ASSIGN_OR_RETURN(const double next_cost, trial.Cost(next));
    if (next_cost > cost && random.Uniform() >= std::exp((cost - next_cost) / temperature)) {
      continue;
    }
    std::swap(placement, next);
    cost = next_cost;
  }
  return trial.Take();
}

absl::StatusOr<Found> BruteForce(Simulator& simulator, const SearchOptions& options) {
  Trial trial(simulator, options);
  Placement placement(simulator.groups());
  while (true) {
    SHOAL_RETURN_IF_ERROR(trial.Cost(placement).status());
    std::size_t group = 0;
    while (group < placement.size() && ++placement[group] == simulator.devices()) {
      placement[group++] = 0;
    }
    if (group == placement.size() || trial.Ended()) return trial.Take();
  }
}

bool CanTryAll(const Simulator& simulator, std::uint64_t evaluations) {
  return std::pow(static_cast<double>(simulator.devices()),
                  static_cast<double>(simulator.groups())) <= static_cast<double>(evaluations);
}

}  // namespace shoal::placement
