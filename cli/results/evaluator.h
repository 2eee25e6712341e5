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
  // An evaluation that takes longer is killed.
  runtime::Duration deadline = std::chrono::minutes(10);
};

class Evaluator {
 public:
  // `clock` outlives this.
  explicit Evaluator(EvaluatorOptions options, runtime::Clock& clock = runtime::SystemClock());

  // REQUIRES: none is under way.
  absl::Status Start(const EvaluationRequest& request);
  bool running() const { return child_ != nullptr; }
  // The outcome, once: an evaluation, or why there is none. Does not wait.
  std::optional<absl::StatusOr<Evaluation>> Poll();
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
};

}  // namespace shoal::cli
