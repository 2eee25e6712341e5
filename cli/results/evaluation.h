// SPDX-License-Identifier: Apache-2.0
// What an evaluation found: episodes as the actor wrote them, summed up.
//
// Success means that the goal's predicate holds and nothing else was changed. Episodes whose goal
// was satisfied at the start are counted apart and are in no rate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

// The order of goals, which are named by numbers and perhaps words after them.
bool GoalBefore(const std::string& a, const std::string& b);

// One line of an evaluation's output.
struct EpisodeOutcome {
  // "learned", "initial", "uniform", "similarity".
  std::string policy;
  // Empty where the environment has no goals.
  std::string goal;
  std::string capture;
  // Its number: the same start under every policy.
  std::int64_t episode = 0;
  double episode_return = 0;
  std::int64_t steps = 0;
  std::int64_t mutations = 0;
  std::int64_t client_errors = 0;
  // Least mutations that reach the goal from this start.
  std::int64_t optimum = 0;
  // Writable properties that changed and should not have.
  std::int64_t collateral = 0;
  bool satisfied_at_start = false;
  // The predicate holds.
  bool reached = false;
};

// Sums over episodes; all rates are 0 without episodes.
struct Score {
  std::int64_t episodes = 0;
  std::int64_t satisfied_at_start = 0;
  // The predicate held, whatever else was changed.
  std::int64_t reached = 0;
  // Reached and clean.
  std::int64_t successes = 0;
  // Nothing else was changed, reached or not.
  std::int64_t clean = 0;
  std::int64_t steps = 0;
  std::int64_t client_errors = 0;
  // Of successful episodes.
  std::int64_t success_steps = 0;
  std::int64_t success_mutations = 0;
  std::int64_t success_optimum = 0;
  double return_sum = 0;

  void Add(const EpisodeOutcome& episode);
  void Add(const Score& other);
  double success_rate() const;
  double reached_rate() const;
  double clean_rate() const;
  double mean_return() const;
  // 4xx answers over steps.
  double client_error_rate() const;
  // Sums over successful episodes; nothing when there are none.
  std::optional<double> steps_per_optimal() const;
  std::optional<double> mutations_per_optimal() const;
};

struct PairKey {
  std::string policy;
  std::string goal;
  std::string capture;
  auto operator<=>(const PairKey&) const = default;
};

// A goal on a capture.
struct GivenUpPair {
  std::string goal;
  std::string capture;
  auto operator<=>(const GivenUpPair&) const = default;
};

struct Evaluation {
  std::map<PairKey, Score> pairs;
  // Pairs of which some episodes cannot begin, and why. They are in no score: what of them could be
  // played is no fair sample.
  std::map<GivenUpPair, std::string> given_up;
  // True when episodes have goals.
  bool has_goals = false;

  void Add(const EpisodeOutcome& episode);
  // Sum over the pairs of `policy`; empty goal or capture: all. `without`: a capture left out.
  Score Total(const std::string& policy, const std::string& goal = "",
              const std::string& capture = "", const std::string& without = "") const;
  // In the order of their numbers, and of the alphabet.
  std::vector<std::string> goals() const;
  std::vector<std::string> captures() const;
  std::vector<std::string> policies() const;
};

// Counts, for each policy, goal and capture, the first `counted` episodes by number whose goal was
// not satisfied at the start. INVALID_ARGUMENT naming the line that is wrong.
absl::StatusOr<Evaluation> ParseEvaluation(std::string_view lines, std::int64_t counted);

// The table for people. `held_out` (may be empty) gets rows of its own and is in no total.
std::string FormatTable(const Evaluation& evaluation, const std::string& held_out);

// For result.json.
std::string ToJson(const Evaluation& evaluation, const std::string& held_out);

}  // namespace shoal::cli
