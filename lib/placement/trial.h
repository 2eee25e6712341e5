// SPDX-License-Identifier: Apache-2.0
// One search's tries: the placements that it may try, and the best of those it has tried.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "placement/simulator.h"
#include "platform/runtime/clock.h"

namespace shoal::placement {

struct SearchOptions {
  // The number of placements that are tried.
  std::uint64_t evaluations = 20'000;
  std::uint64_t seed = 1;
  // Is called with the number of placements tried so far.
  std::function<void(std::uint64_t)> progress = [](std::uint64_t) {};
  // The time that the search may take on `clock`; a placement that was begun is finished.
  double seconds = std::numeric_limits<double>::infinity();
  // Ends the search once it returns true. Is asked after every 64 placements, and after 100 ms.
  std::function<bool()> stop = [] { return false; };
  const runtime::Clock& clock = runtime::SystemClock();
};

// A placement that was better than all before it.
struct Improvement {
  // The placements tried until then, this one included.
  std::uint64_t evaluations = 0;
  Step step;
  // Since the search began.
  double seconds = 0;
};

struct Found {
  Placement placement;
  Step step;
  // The placements tried, and how long that took.
  std::uint64_t evaluations = 0;
  double seconds = 0;
  // In the order in which they were found; the last one is the placement above.
  std::vector<Improvement> improvements;

  // The placements tried until the best was found; 0 if none was tried.
  std::uint64_t best_after() const {
    return improvements.empty() ? 0 : improvements.back().evaluations;
  }
};

// What becomes of a placement that was tried before, and so has its cost already.
enum class Repeats : std::uint8_t {
  // It is tried like any other.
  kCount,
  // It is neither simulated nor counted; but after 50 such ones in a row the next one is, so that a
  // search that tries nothing new ends. The first million placements are remembered.
  kFree,
};

class Trial {
 public:
  // Both must outlive this object. REQUIRES: options.evaluations >= 1.
  Trial(Simulator& simulator, const SearchOptions& options, Repeats repeats = Repeats::kCount)
      : simulator_(simulator), options_(options), repeats_(repeats), start_(options.clock.Now()) {}

  // Simulates the placement, counts it and returns its cost; Repeats says what it does with one
  // that was tried before. Errors are those of Simulator::Run.
  absl::StatusOr<double> Cost(const Placement& placement);

  // Whether a limit is reached, or somebody stopped the search; never before the first placement.
  bool Ended() const { return ended_; }
  // The share of the placements or of the time that is used up, whichever is larger.
  double Progress() const;
  // The best placement so far, and its step. REQUIRES: one was tried.
  const Placement& best_placement() const { return found_.placement; }
  const Step& best() const { return found_.step; }
  // Gives the result away; nothing may be tried after it.
  Found Take() { return std::move(found_); }

 private:
  Simulator& simulator_;
  const SearchOptions& options_;
  const Repeats repeats_;
  const runtime::TimePoint start_;
  // When options_.stop was asked, in seconds since the start.
  double asked_ = 0;
  bool ended_ = false;
  // By the hash of the placement.
  std::unordered_map<std::uint64_t, double> costs_;
  int repeated_ = 0;
  Found found_;
};

}  // namespace shoal::placement
