// SPDX-License-Identifier: Apache-2.0
// Writes the file of an evaluation: one JSON object a line, most of them a finished episode.
//
//   {"pairs","episodes"}               the first line: how many pairs, and the episodes planned
//   {"goal","capture","given_up"}      a pair whose episodes cannot begin, and why
//   {"policy","goal","capture","situation","episode","success","clean","satisfied_at_start","steps",
//    "mutations","optimum","status_4xx","collateral","return","policy_epoch","policy_step","open",
//    "text","requests"}             the situation where the goal has some
//
// Thread-safe. Each line is flushed at once, so a reader sees only whole lines.
#pragma once

#include <fstream>
#include <memory>
#include <string>

#include "actor/loop/episode_plan.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

class EvaluationLog {
 public:
  // Makes missing folders and overwrites an old file. Returns FAILED_PRECONDITION naming the path
  // when the file cannot be written.
  static absl::StatusOr<std::unique_ptr<EvaluationLog>> Create(const std::string& path);

  void WritePlan(const EvaluationPlan::Work& work) ABSL_LOCKS_EXCLUDED(mutex_);
  void Write(const EpisodeAssignment& assignment, const EpisodeResult& result)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void WriteGivenUp(const Pair& pair, const std::string& reason) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns INTERNAL naming the path when a line could not be written.
  absl::Status Close() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  EvaluationLog(std::string path, std::ofstream file)
      : path_(std::move(path)), file_(std::move(file)) {}
  void WriteLine(const std::string& line) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string path_;
  runtime::Mutex mutex_;
  std::ofstream file_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::actor
