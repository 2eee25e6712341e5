// SPDX-License-Identifier: Apache-2.0
// What a run's learner says of each update: Prometheus, and one line of learner.jsonl.
//
// Rank 0 alone makes one. Not thread-safe.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "learner/unrolls/episode_returns.h"
#include "learner/unrolls/round.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/parameters/version.h"

namespace shoal::learner {

struct UpdateRecord {
  algorithms::UpdateReport report;
  parameters::Version version;
  // Rows trained on since the run began, restarts included.
  double environment_steps = 0;
  // Of this update, all ranks.
  std::int64_t unrolls = 0;
  EpisodeSummary episodes;
  // Since start.
  RoundCounts counts;
  double waiting_seconds = 0;
  double decoding_seconds = 0;
  double updating_seconds = 0;
  double publishing_seconds = 0;
};

class LearnerMetrics {
 public:
  // Appends to `path`. `metrics` outlives this. INTERNAL when the file cannot be opened.
  static absl::StatusOr<std::unique_ptr<LearnerMetrics>> Create(const std::string& path,
                                                                runtime::Metrics& metrics);

  void Record(const UpdateRecord& record);
  void RecordCloning(const algorithms::CloningReport& report);
  // An update whose loss was not finite.
  void RecordFailure();

 private:
  LearnerMetrics(std::ofstream file, runtime::Metrics& metrics);

  std::ofstream file_;
  runtime::Metrics& metrics_;
  prometheus::Counter& updates_;
  prometheus::Counter& failures_;
  prometheus::Counter& steps_;
  RoundCounts last_;
};

}  // namespace shoal::learner
