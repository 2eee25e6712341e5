// SPDX-License-Identifier: Apache-2.0
// An evaluation of a running cluster: one actor that plays a fixed number of episodes and writes
// what became of each.
//
// Not thread-safe: the main thread owns it (see ChildProcess).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/child_process.h"
#include "cli/results/evaluation.h"
#include "platform/runtime/clock.h"

namespace shoal::cli {

struct EvaluatorOptions {
  // Path of the actor's program, and the configuration it reads.
  std::string program;
  std::string config_path;
  // Episode lines and logs go to <folder>/<name>.jsonl and <folder>/<name>.log.
  std::string folder;
};

struct EvaluationRequest {
  std::string name;
  // "learned", "initial", "uniform", "similarity", or a version as in "1.27".
  std::vector<std::string> policies;
  // Counted, of each goal and capture under each policy.
  std::int64_t episodes = 1;
  // Episodes played for one that counts, as starts that satisfy their goal do not. At least 1.
  double spare = 1;
  // Evaluations with different numbers share no start.
  std::int64_t seed = 0;
  // Captures judged on; empty: all of the environment.
  std::vector<std::string> captures = {};
  // Time to play for; then what was played counts, though it is less. Zero: as long as it takes.
  runtime::Duration budget = {};
  // An evaluation that takes longer is killed, and nothing of it counts. Zero: never.
  runtime::Duration deadline = {};
};

// How far an evaluation is.
struct EvaluationProgress {
  std::int64_t pairs = 0;
  // That count, played and planned; fewer are played where the budget ends it.
  std::int64_t played = 0;
  std::int64_t planned = 0;
  // Nothing before the first episode has ended.
  std::optional<double> seconds_left = std::nullopt;
};

// "evaluating 71 pairs: 3120 of 8520 episodes, about 40 s left".
std::string ToText(const EvaluationProgress& progress);

class Evaluator {
 public:
  // `clock` outlives this.
  explicit Evaluator(EvaluatorOptions options, runtime::Clock& clock = runtime::SystemClock());

  // REQUIRES: none is under way.
  absl::Status Start(const EvaluationRequest& request);
  bool running() const { return child_ != nullptr; }
  // The outcome, once: an evaluation, or why there is none: INVALID_ARGUMENT, in one line, when
  // another try would end alike. Does not wait.
  std::optional<absl::StatusOr<Evaluation>> Poll();
  // Nothing while none is under way or its actor is still starting. Does not wait.
  std::optional<EvaluationProgress> Progress();
  // What the last evaluation's actor says of the catalogs it built: one line a capture.
  std::string CatalogSizes() const;
  // Kills one that is under way.
  void Cancel() { child_.reset(); }

 private:
  const EvaluatorOptions options_;
  runtime::Clock& clock_;
  std::unique_ptr<ChildProcess> child_;
  std::int64_t counted_ = 0;
  std::string output_path_;
  std::string log_path_;
  runtime::TimePoint deadline_ = {};
  runtime::Duration budget_ = {};
  // Of the output: how much was read, when its first line was there, and what it said.
  std::int64_t read_bytes_ = 0;
  std::optional<runtime::TimePoint> playing_since_;
  EvaluationProgress progress_;
};

}  // namespace shoal::cli
