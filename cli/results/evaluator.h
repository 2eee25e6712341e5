// SPDX-License-Identifier: Apache-2.0
// Evaluates a running cluster: an actor plays a fixed number of episodes and writes the outcome of
// each.
//
// Not thread-safe: the main thread owns it (see ChildProcess).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster/child_process.h"
#include "cli/results/evaluation.h"
#include "platform/runtime/clock.h"

namespace shoal::cli {

struct EvaluatorOptions {
  // Path of the actor's program, and of the configuration that it reads.
  std::string program;
  std::string config_path;
  // Episode lines and logs go to <folder>/<name>.jsonl and <folder>/<name>.log.
  std::string folder;
};

struct EvaluationRequest {
  std::string name;
  // "learned", "initial", "uniform", "similarity", or a version as in "1.27".
  std::vector<std::string> policies;
  // Episodes that count, of each goal and capture under each policy.
  std::int64_t episodes = 1;
  // Episodes planned for each one that counts, since starts that satisfy their goal do not count.
  // At least 1.
  double spare = 1;
  // Evaluations with different numbers, which are 0 to 1e15, share no start.
  std::int64_t seed = 0;
  // Captures to evaluate on. Empty means all of the environment.
  std::vector<std::string> captures = {};
  // Time to play for. When it is over, what was played counts. Zero means no limit.
  runtime::Duration budget = {};
  // An evaluation that takes longer is killed. What it played counts if that is at least one
  // episode of each pair under each policy. Zero means no limit.
  runtime::Duration deadline = {};
};

// How far an evaluation has come.
struct EvaluationProgress {
  std::int64_t pairs = 0;
  // Episodes that count: played so far, and planned. Pairs that were given up are in none of these
  // numbers. Fewer are played when the budget ends the evaluation.
  std::int64_t played = 0;
  std::int64_t planned = 0;
  // Nothing until the first episode has ended.
  std::optional<double> seconds_left = std::nullopt;
};

// Returns a text such as "evaluating 71 pairs: 3120 of 8520 episodes, about 40 s left".
std::string ToText(const EvaluationProgress& progress);

class Evaluator {
 public:
  // `clock` outlives this.
  explicit Evaluator(EvaluatorOptions options, runtime::Clock& clock = runtime::SystemClock());

  // Starts an evaluation. REQUIRES: none is under way.
  absl::Status Start(const EvaluationRequest& request);
  bool running() const { return child_ != nullptr; }
  // Returns the outcome once: an evaluation, or why there is none. The error is INVALID_ARGUMENT,
  // in one line, when another try would end the same way, and DEADLINE_EXCEEDED when the deadline
  // came before each pair was played. Versions are one policy, "learned", so what several return is
  // told by Of alone. Does not wait.
  std::optional<absl::StatusOr<Evaluation>> Poll();
  // Returns what the evaluation that ended last has played of one of the policies of its request
  // alone, even if it failed.
  absl::StatusOr<Evaluation> Of(const std::string& policy) const;
  // Returns whether the evaluation that ended last has played as many episodes of each pair under
  // this policy as were asked for.
  bool PlayedAllOf(const std::string& policy) const;
  // Returns nothing while no evaluation is under way or its actor is still starting. Does not wait.
  std::optional<EvaluationProgress> Progress();
  // Returns what the last evaluation's actor logged about its catalogs, one line for each capture.
  std::string CatalogSizes() const;
  // Kills an evaluation that is under way.
  void Cancel() { child_.reset(); }

 private:
  absl::StatusOr<Evaluation> WhatWasPlayed();
  // Reads the whole lines of the output.
  absl::Status ReadLines();

  const EvaluatorOptions options_;
  runtime::Clock& clock_;
  std::unique_ptr<ChildProcess> child_;
  std::int64_t counted_ = 0;
  std::vector<std::string> policies_;
  std::string output_path_;
  std::string log_path_;
  runtime::TimePoint deadline_ = {};
  runtime::Duration budget_ = {};
  // The whole lines of the output, once it has ended. Empty while it is under way.
  std::string lines_;
  // How much of the output was read, when its first line was there, and the counts in it.
  std::int64_t read_bytes_ = 0;
  std::optional<runtime::TimePoint> playing_since_;
  EvaluationProgress progress_;
  std::int64_t planned_of_pair_ = 0;
  std::map<std::pair<std::string, std::string>, std::int64_t> played_;
};

}  // namespace shoal::cli
