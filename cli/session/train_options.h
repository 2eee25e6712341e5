// SPDX-License-Identifier: Apache-2.0
// Section [train] of the configuration: how long `shoal train` goes on, how it evaluates, and which
// metrics it reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/config.h"

namespace shoal::cli {

struct TrainOptions {
  // Minutes of training, from the start of the processes to the last evaluation. 0 means until
  // stopped.
  double minutes = 6;
  // Episodes of each goal and capture that the expert's plans play before training, for the learner
  // to clone (docs/demonstrations.md). 0 means none. They are not played when
  // learner.demonstrations names a file.
  std::int64_t demonstration_episodes = 0;
  // The least episodes of each goal that experts play, which its captures share: a goal that few
  // captures have is then shown in as many sentences as others.
  std::int64_t demonstration_goal_episodes = 0;
  // Environment steps after which training ends. 0 means no limit.
  std::int64_t max_steps = 0;
  // Seconds between greedy evaluations while training. 0 means no evaluations.
  double evaluate_every_seconds = 20;
  // Environment steps between the versions that greedy evaluations judge, which then do not go by
  // time: of each multiple the first version that was published at it or after. Training does not
  // wait for them; those that are left at its end are made then. A session that has not started the
  // learner itself judges the newest version each time. 0 means that they go by time.
  std::int64_t evaluate_every_steps = 0;
  // Episodes of each goal and capture (or of the environment, if it has no goals).
  std::int64_t evaluate_episodes = 10;
  // Episodes of each goal and capture in the final evaluation. There are fewer when its time is up.
  std::int64_t final_episodes = 60;
  // Minutes for the final evaluation, which plays each goal and capture at least once under each
  // policy. 0 means no limit.
  double final_minutes = 3;
  // Policies of the final evaluation besides the learned one.
  std::vector<std::string> baselines = {"initial", "uniform", "similarity"};

  // Training ends early when this many greedy evaluations in a row reach all bars.
  std::int64_t stop_evaluations = 2;
  // Fresh episodes, of each goal and capture, of one more evaluation of that policy, which has to
  // reach all bars too; otherwise training goes on. 0 means that there is none.
  std::int64_t stop_confirm_episodes = 0;
  // The bar for success (or for mean return, which may be negative, in environments without goals).
  // By default it is a bar that nothing reaches, so that training never ends early.
  double stop_score = 1e9;
  // The bar for the success of each pair of goal and capture, as a mean over many pairs may hide a
  // bad one. 0 accepts any. Used only where there are goals.
  double stop_pair_success = 0;
  // The bar for mutations divided by the fewest possible ones, which must not be exceeded. 0
  // accepts any.
  double stop_mutations = 0;
  // The bar for steps divided by the fewest possible mutations, which must not be exceeded. 0
  // accepts any.
  double stop_steps = 0;

  // Seconds between rows of metrics.jsonl and of the event file.
  double record_every_seconds = 1;
  // Seconds between status lines when standard error is no terminal.
  double status_every_seconds = 5;
  // "host:port" of further metrics endpoints to read. `--attach` shows these.
  std::vector<std::string> metrics = {};

  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::cli
