// SPDX-License-Identifier: Apache-2.0
// The results of an evaluation: the episodes that the actor wrote, summed up.
//
// Success means that the goal's predicate holds and nothing else was changed. Episodes whose goal
// was satisfied at the start are counted apart and enter no rate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

// Orders goals by the number at the start of their names, then by the rest.
bool GoalBefore(const std::string& a, const std::string& b);

// One line of an evaluation's output.
struct EpisodeOutcome {
  // One of "learned", "initial", "uniform", "similarity".
  std::string policy;
  // The policy as the evaluation was asked for it, which may be a version such as "1.27".
  std::string asked = {};
  // Empty where the environment has no goals.
  std::string goal;
  std::string capture;
  // The number of the episode, which has the same start under every policy.
  std::int64_t episode = 0;
  double episode_return = 0;
  std::int64_t steps = 0;
  std::int64_t mutations = 0;
  std::int64_t client_errors = 0;
  // The fewest mutations that reach the goal from this start.
  std::int64_t optimum = 0;
  // Writable properties that changed and should not have.
  std::int64_t collateral = 0;
  bool satisfied_at_start = false;
  // Whether the goal's predicate held.
  bool reached = false;
  // Whether it began with the decisive value exchanged.
  bool exchanged = false;
  // The goal's requirements that did not hold at the end (actor/environments/environment.h).
  std::vector<std::string> open = {};
  // The requests with the status of their answers, as in "GET /redfish/v1 200".
  std::vector<std::string> requests = {};
};

// Sums over episodes. All rates are 0 without episodes.
struct Score {
  std::int64_t episodes = 0;
  std::int64_t satisfied_at_start = 0;
  // Episodes whose predicate held, whatever else was changed.
  std::int64_t reached = 0;
  // Episodes that were reached and clean.
  std::int64_t successes = 0;
  // Episodes in which nothing else was changed, whether reached or not.
  std::int64_t clean = 0;
  std::int64_t steps = 0;
  std::int64_t client_errors = 0;
  // Sums over successful episodes.
  std::int64_t success_steps = 0;
  std::int64_t success_mutations = 0;
  std::int64_t success_optimum = 0;
  double return_sum = 0;
  // For each requirement, the episodes at whose end it did not hold.
  std::map<std::string, std::int64_t> open = {};

  void Add(const EpisodeOutcome& episode);
  void Add(const Score& other);
  double success_rate() const;
  double reached_rate() const;
  double clean_rate() const;
  double mean_return() const;
  // Returns 4xx answers per step.
  double client_error_rate() const;
  // Return the sum over successful episodes divided by their optimum, or nothing when there are
  // none.
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
  // Pairs some of whose episodes cannot begin, with the reason. They enter no score, as the
  // episodes that could be played are no fair sample.
  std::map<GivenUpPair, std::string> given_up;
  // Whether episodes have goals.
  bool has_goals = false;

  void Add(const EpisodeOutcome& episode);
  // Returns the sum over the pairs of `policy`. An empty goal or capture means all. `without` names
  // a capture to leave out.
  Score Total(const std::string& policy, const std::string& goal = "",
              const std::string& capture = "", const std::string& without = "") const;
  // Goals are in the order of GoalBefore, captures and policies in alphabetical order, with
  // "learned" first.
  std::vector<std::string> goals() const;
  std::vector<std::string> captures() const;
  std::vector<std::string> policies() const;
};

// Returns the episodes of an evaluation's output in its order. Returns INVALID_ARGUMENT naming the
// line that is wrong.
absl::StatusOr<std::vector<EpisodeOutcome>> ParseEpisodes(std::string_view lines);

// Counts, for each policy, goal and capture, the first `counted` episodes by number whose goal was
// not satisfied at the start. `asked` leaves out the episodes of all policies but the one that was
// asked for by this name, such as one version of several; empty leaves out none. Returns
// INVALID_ARGUMENT naming the line that is wrong.
absl::StatusOr<Evaluation> ParseEvaluation(std::string_view lines, std::int64_t counted,
                                           const std::string& asked = "");

// Returns a readable table. The capture `held_out` (may be empty) gets rows of its own and enters
// no total.
std::string FormatTable(const Evaluation& evaluation, const std::string& held_out);

// Returns the contents of result.json.
std::string ToJson(const Evaluation& evaluation, const std::string& held_out);

}  // namespace shoal::cli
