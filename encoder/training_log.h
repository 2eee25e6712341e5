// SPDX-License-Identifier: Apache-2.0
// The records of a run of `encoder train`: metrics.jsonl, an event file for TensorBoard,
// report.html, and a line on standard error.
//
// Not thread-safe. Only one process at a time may write a folder.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "platform/display/event_writer.h"
#include "platform/display/live_line.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "rl/collectives/rank_times.h"
#include "text/language/language_trainer.h"

namespace shoal::encoder {

struct TrainingRow {
  language::StepReport report;
  double epochs = 0;
  // Tokens of the whole run over restarts and all ranks.
  std::int64_t tokens = 0;
  double learning_rate = 0;
  // The curriculum's stage.
  std::string stage;
  // The rate of the last steps, without evaluations.
  double tokens_per_second = 0;
  // How much of the run is over, 0 to 1, and the seconds that are left.
  double done = 0;
  double seconds_left = 0;
  // How the ranks have shared the step. Empty for one rank alone.
  collectives::RankTimes ranks = {};
};

class TrainingLog {
 public:
  // Makes `folder`. Drops rows of metrics.jsonl past `step`: they belong to a run that ended after
  // its last checkpoint, and their steps come again. Returns INTERNAL naming the file.
  static absl::StatusOr<std::unique_ptr<TrainingLog>> Open(const std::string& folder,
                                                           std::int64_t step,
                                                           runtime::Clock& clock);

  // Writes {"step", "epochs", "tokens", "loss", "accuracy", "targets", "gradient_norm",
  // "learning_rate", "stage", "tokens_per_second"}, and the same names below "train/" as events.
  // Where there are several ranks, also "communication_seconds", "exposed_communication_seconds"
  // and "communication_bytes" of rank 0, and "straggler_ratio" and "data_skew" of all
  // (rl/collectives/rank_times.h); rows are tokens.
  absl::Status AddStep(const TrainingRow& row);
  // Writes {"step", "held_out_loss", "held_out_perplexity", "held_out_accuracy",
  // "held_out_targets"}, and events below "held_out/".
  absl::Status AddEvaluation(std::int64_t step, const language::LossReport& report);
  // Writes report.html from metrics.jsonl. `options` are the run's options as text. `result` is a
  // line, which may be empty.
  absl::Status WriteReport(const std::string& options, const std::string& result);

 private:
  TrainingLog(std::string folder, std::unique_ptr<display::EventWriter> events,
              runtime::Clock& clock);

  absl::Status AddRow(const std::string& row);
  double WallSeconds() const;

  const std::string folder_;
  const std::unique_ptr<display::EventWriter> events_;
  runtime::Clock& clock_;
  std::ofstream metrics_;
  display::LiveLine line_;
};

// Returns a line such as "step 120  epoch 1.50  loss 2.3026  perplexity 10.00  accuracy 0.500
// 12345 tokens/s  ETA 1:02:05", and with several ranks "  communication 12%  slowest rank 1.08", in
// units of the mean.
std::string ProgressLine(const TrainingRow& row);

}  // namespace shoal::encoder
