// SPDX-License-Identifier: Apache-2.0
// Section [train]: how long `shoal train` goes on, how it judges, and what it reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/config.h"

namespace shoal::cli {

struct TrainOptions {
  // Of training, from the start of the processes to the last evaluation. 0: until stopped.
  double minutes = 6;
  // Environment steps after which training ends; 0: no limit.
  std::int64_t max_steps = 0;
  // Greedy evaluations while training; 0: none.
  double evaluate_every_seconds = 20;
  // Of each goal and capture (or of the environment, where there are no goals).
  std::int64_t evaluate_episodes = 10;
  // Of each goal and capture in the evaluation at the end; fewer where its time is up.
  std::int64_t final_episodes = 60;
  // Time for the evaluation at the end; each goal and capture is played at least once under each
  // policy. 0: as long as it takes.
  double final_minutes = 3;
  // Policies of the evaluation at the end, beside the learned one.
  std::vector<std::string> baselines = {"initial", "uniform", "similarity"};

  // Training ends early when this many greedy evaluations in a row reach all bars.
  std::int64_t stop_evaluations = 2;
  // Least success (goals) or mean return (environments without goals). Below 0: never ends early.
  double stop_score = -1;
  // Least success of each pair of goal and capture, where there are goals: a mean over many hides
  // one. 0: any.
  double stop_pair_success = 0;
  // Most mutations over the least possible ones; 0: any.
  double stop_mutations = 0;

  // Between rows of metrics.jsonl and of the event file.
  double record_every_seconds = 1;
  // Between status lines where standard error is no terminal.
  double status_every_seconds = 5;
  // host:port of further metrics endpoints to read: what `--attach` shows.
  std::vector<std::string> metrics = {};

  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::cli
