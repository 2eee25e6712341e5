// SPDX-License-Identifier: Apache-2.0
#include "placement/trial.h"

#include <algorithm>
#include <chrono>

namespace shoal::placement {
namespace {

// FNV-1a over devices, which are less than 256, and a last mixing of its bits.
std::uint64_t HashOf(const Placement& placement) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::size_t device : placement) hash = (hash ^ device) * 0x100000001b3;
  return hash ^ hash >> 32;
}

}  // namespace

absl::StatusOr<double> Trial::Cost(const Placement& placement) {
  constexpr std::uint64_t kBetweenAsks = 64;
  constexpr double kSecondsBetweenAsks = 0.1;
  constexpr int kMostRepeats = 50;
  constexpr std::size_t kMostRemembered = 1 << 20;
  const std::uint64_t hash = repeats_ == Repeats::kFree ? HashOf(placement) : 0;
  if (repeats_ == Repeats::kFree && repeated_ < kMostRepeats) {
    if (const auto known = costs_.find(hash); known != costs_.end()) {
      ++repeated_;
      return known->second;
    }
  }
  repeated_ = 0;
  SHOAL_ASSIGN_OR_RETURN(const Step step, simulator_.Run(placement));
  if (repeats_ == Repeats::kFree && costs_.size() < kMostRemembered) {
    costs_.emplace(hash, step.cost());
  }
  ++found_.evaluations;
  found_.seconds = std::chrono::duration<double>(options_.clock.Now() - start_).count();
  options_.progress(found_.evaluations);
  if (found_.placement.empty() || step.cost() < found_.step.cost()) {
    found_.placement = placement;
    found_.step = step;
    found_.improvements.push_back(
        {.evaluations = found_.evaluations, .step = step, .seconds = found_.seconds});
  }
  ended_ =
      ended_ || found_.evaluations >= options_.evaluations || found_.seconds >= options_.seconds;
  if (found_.evaluations % kBetweenAsks == 0 || found_.seconds >= asked_ + kSecondsBetweenAsks) {
    asked_ = found_.seconds;
    ended_ = ended_ || options_.stop();
  }
  return step.cost();
}

double Trial::Progress() const {
  return std::max(
      static_cast<double>(found_.evaluations) / static_cast<double>(options_.evaluations),
      found_.seconds / options_.seconds);
}

}  // namespace shoal::placement
