// SPDX-License-Identifier: Apache-2.0
// One search's tries: the placements that it may try, and the best of those it has tried.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "placement/simulator.h"

namespace shoal::placement {

struct SearchOptions {
  // The number of placements that are tried.
  std::uint64_t evaluations = 20'000;
  std::uint64_t seed = 1;
  // Is called with the number of placements tried so far.
  std::function<void(std::uint64_t)> progress = [](std::uint64_t) {};
};

// A placement that was better than all before it.
struct Improvement {
  // The placements tried until then, this one included.
  std::uint64_t evaluations = 0;
  Step step;
};

struct Found {
  Placement placement;
  Step step;
  // The placements tried.
  std::uint64_t evaluations = 0;
  // In the order in which they were found; the last one is the placement above.
  std::vector<Improvement> improvements;

  // The placements tried until the best was found; 0 if none was tried.
  std::uint64_t best_after() const {
    return improvements.empty() ? 0 : improvements.back().evaluations;
  }
};

class Trial {
 public:
  // Both must outlive this object. REQUIRES: options.evaluations >= 1.
  Trial(Simulator& simulator, const SearchOptions& options)
      : simulator_(simulator), options_(options) {}

  // Simulates the placement, counts it and returns its cost. Errors are those of Simulator::Run.
  absl::StatusOr<double> Cost(const Placement& placement);

  bool Ended() const { return found_.evaluations >= options_.evaluations; }
  std::uint64_t evaluations() const { return found_.evaluations; }
  // Gives the result away; nothing may be tried after it.
  Found Take() { return std::move(found_); }

 private:
  Simulator& simulator_;
  const SearchOptions& options_;
  Found found_;
};

}  // namespace shoal::placement
