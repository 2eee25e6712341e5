// SPDX-License-Identifier: Apache-2.0
// Reports each update of a learner: Prometheus metrics, and one line of learner.jsonl. A line for
// which the disk has no room is left out, which the log says once and a metric counts.
//
// Only rank 0 has one. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "learner/circuit_breaker.h"
#include "learner/unrolls/episode_returns.h"
#include "learner/unrolls/round.h"
#include "platform/runtime/appended_file.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/collectives/rank_times.h"
#include "rl/parameters/version.h"

namespace shoal::learner {

// Of an asynchronous gradient.
struct GradientRecord {
  std::int64_t rank = 0;
  // The updates between the parameters it was computed from and those it was applied to.
  std::uint64_t staleness = 0;
  // The gradients since this process started that were not applied, all ranks together.
  std::int64_t dropped = 0;
};

struct UpdateRecord {
  algorithms::UpdateReport report = {};
  parameters::Version version = {};
  // The steps of environments since the run began, including those before restarts: on policy those
  // trained on, and those of asynchronous gradients that came too late; off policy those that
  // replay took in.
  double environment_steps = 0;
  // The unrolls of this update on all ranks.
  std::int64_t unrolls = 0;
  // How many of them were demonstrations that were drawn in place of what replay has.
  std::int64_t demonstrations = 0;
  // How often replay has given out each of the others so far, this time included; the mean over all
  // ranks, 0 without any.
  double mean_use = 0;
  EpisodeSummary episodes = {};
  // The unrolls since this process started.
  RoundCounts counts = {};
  BreakerState breaker = BreakerState::kClosed;
  // Nothing where gradients are synchronous.
  std::optional<GradientRecord> gradient = {};
  // The wall time of rank 0, and with asynchronous gradients that of the rank whose gradient it is,
  // except for publishing; agreeing is then the exchange before. Waiting is for unrolls, decoding
  // of these and drawing of demonstrations, agreeing for other ranks before an update; the report
  // has the parts of updating.
  double waiting_seconds = 0;
  double decoding_seconds = 0;
  double agreeing_seconds = 0;
  double updating_seconds = 0;
  double publishing_seconds = 0;
  collectives::RankTimes ranks = {};
};

class LearnerMetrics {
 public:
  // Appends to `path`. `metrics` must outlive this object. The errors are those of
  // runtime::AppendedFile.
  static absl::StatusOr<std::unique_ptr<LearnerMetrics>> Create(const std::string& path,
                                                                runtime::Metrics& metrics);

  void Record(const UpdateRecord& record);
  // Counts an asynchronous gradient by its fate: "applied", "stale", "repeated", "late" where
  // learner.updates were done already, "undone" by the circuit breaker.
  void RecordGradient(const std::string& fate);
  // `planned` is the number of updates by cloning, at least 1.
  void RecordCloning(const algorithms::CloningReport& report, std::int64_t planned);
  // Counts an update that failed and changed nothing.
  void RecordFailure();
  // Counts a checkpoint, parameters, ids of unrolls, condemned versions, an epoch or a line of this
  // file, as `what` says, that the disk had no room for.
  void RecordNotSaved(const std::string& what);
  // Counts a verdict that undid the update after `update`.
  void RecordVerdict(std::int64_t update, const Verdict& verdict);
  // Counts that learning is softened from `update` on.
  void RecordSoftening(std::int64_t update, Symptom symptom);
  // Shows how often the group of ranks has failed since its supervisor started.
  void RecordGroupFailures(const std::map<std::string, std::int64_t>& by_cause);
  // Shows how often the group of ranks was started again because its nodes changed.
  void RecordGroupChanges(const std::map<std::string, std::int64_t>& by_cause);

 private:
  LearnerMetrics(std::unique_ptr<runtime::AppendedFile> file, runtime::Metrics& metrics);
  // Appends a line, given without its newline.
  void Write(const std::string& line);
  // Counts what the breaker did and writes its line, in which `when` is the key of the update.
  void RecordTrip(const char* when, std::int64_t update, const std::string& reason,
                  const std::string& action);
  void RecordRanks(const collectives::RankTimes& times);
  void RecordByCause(const std::map<std::string, std::int64_t>& by_cause, runtime::MetricInfo info);

  const std::unique_ptr<runtime::AppendedFile> file_;
  // Whether the last line was left out.
  bool line_is_missing_ = false;
  runtime::Metrics& metrics_;
  prometheus::Counter& updates_;
  prometheus::Counter& failures_;
  prometheus::Counter& rows_;
  prometheus::Histogram& staleness_;
  RoundCounts last_;
};

}  // namespace shoal::learner
