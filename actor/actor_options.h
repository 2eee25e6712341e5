// SPDX-License-Identifier: Apache-2.0
// Section [actor] of the configuration: how many environments a process plays, in which mode, and
// how it sends their rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actor/loop/fault_curriculum.h"
#include "actor/loop/hindsight.h"
#include "platform/runtime/config.h"

namespace shoal::actor {

struct ActorOptions {
  // "train" plays until it is told to stop. "evaluate" plays a number of episodes and exits.
  // "record" writes demonstrations of the experts, without inference, and exits.
  std::string mode = "train";
  // Environments of this process, over all its threads.
  std::int64_t environments = 128;
  std::int64_t threads = 1;
  // The policy that acts, if several are trained side by side.
  std::int64_t policy_id = 0;
  // Environments with the same id / block_size share an inference server.
  std::int64_t block_size = 64;
  // A message is sent when it has this many rows, or when no other environment could add a row...
  std::int64_t rows_per_message_min = 16;
  std::int64_t rows_per_message_max = 256;
  // ... or when its oldest row has waited this long.
  std::int64_t max_wait_us = 500;
  // How often training plays a pair that always succeeds, as a share of how often it plays one that
  // always fails. With 1 all pairs take turns. Below 1, which episodes are played depends on how
  // earlier episodes ended.
  double learned_weight = 1.0;
  // If above 1, training episodes form groups of this many with the same start.
  std::int64_t group_size = 1;
  // Training episodes meet more of environment.faults as they succeed.
  CurriculumOptions curriculum;
  // Training episodes are told again under goals that they achieved.
  HindsightOptions hindsight;
  // "host:port", or empty to serve none.
  std::string metrics_listen = "";
  std::string health_listen = "";

  // Evaluation plays at most this many episodes of each (goal, capture) pair under each policy.
  std::int64_t evaluate_episodes = 60;
  // A pair is done after this many episodes whose goal did not hold at their start. 0 means after
  // all.
  std::int64_t evaluate_counted = 0;
  // After this many seconds evaluation begins only the first episode of each pair and policy. 0
  // means no limit.
  double evaluate_seconds = 0;
  // File that gets one JSON object a line for each episode.
  std::string evaluate_output = "evaluation.jsonl";
  // Each is "current", "initial", "uniform", "similarity" or "EPOCH.STEP".
  std::vector<std::string> evaluate_policies = {"current"};
  // Empty means JudgedCaptures of the environment's (redfish/capture/capture_roles.h).
  std::vector<std::string> evaluate_captures = {};
  // Different numbers give different episodes.
  std::int64_t evaluate_seed = 0;

  // Recording plays this many episodes of each (goal, capture) pair.
  std::int64_t record_episodes = 40;
  // More of pairs whose goal would otherwise have fewer than this, over all its captures.
  std::int64_t record_goal_episodes = 0;
  std::string record_output = "demonstrations.demos";

  bool evaluates() const { return mode == "evaluate"; }
  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::actor
