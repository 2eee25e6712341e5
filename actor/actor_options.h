// SPDX-License-Identifier: Apache-2.0
// Section [actor]: which environments a process plays, in which mode, and how it sends their rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/config.h"

namespace shoal::actor {

struct ActorOptions {
  // "train": plays until it is told to stop. "evaluate": plays a number of episodes and exits.
  // "record": writes what experts do, without inference, and exits.
  std::string mode = "train";
  // Of this process, over all its threads.
  std::int64_t environments = 128;
  std::int64_t threads = 1;
  // The policy that acts, where several are trained side by side.
  std::int64_t policy_id = 0;
  // Environments with the same id / block_size share an inference server.
  std::int64_t block_size = 64;
  // A message leaves with this many rows, or when no environment could add one...
  std::int64_t rows_per_message_min = 16;
  std::int64_t rows_per_message_max = 256;
  // ... or when its oldest row has waited this long.
  std::int64_t max_wait_us = 500;
  // How often training plays a pair that it has learned, of how often one that fails; 1: all pairs
  // take turns. Below 1, which episodes are played depends on how earlier ones ended.
  double learned_weight = 1.0;
  // "host:port"; empty: not served.
  std::string metrics_listen = "";
  std::string health_listen = "";

  // Evaluation: episodes of each (goal, capture) pair under each policy, at most.
  std::int64_t evaluate_episodes = 60;
  // A pair is done after so many episodes whose goal did not hold at their start; 0: after all.
  std::int64_t evaluate_counted = 0;
  // Seconds after which only the first episode of each pair and policy is still begun; 0: no limit.
  double evaluate_seconds = 0;
  // One JSON object a line for each episode.
  std::string evaluate_output = "evaluation.jsonl";
  // "current", "initial", "uniform", "similarity" or "EPOCH.STEP".
  std::vector<std::string> evaluate_policies = {"current"};
  // Empty: all of environment.captures, those held out too.
  std::vector<std::string> evaluate_captures = {};
  // Other numbers, other episodes.
  std::int64_t evaluate_seed = 0;

  // Recording: episodes of each (goal, capture) pair.
  std::int64_t record_episodes = 40;
  std::string record_output = "demonstrations.demos";
  // Share of the expert's requests that are answered 503, to be repeated.
  double record_fault_rate = 0;

  bool evaluates() const { return mode == "evaluate"; }
  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::actor
