// SPDX-License-Identifier: Apache-2.0
// Section [environment]: what is acted in, the same for training and evaluation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/config.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

struct RewardOptions {
  // "default": the knobs below. "igc": +1 at the goal, 2xx 0.1, 4xx -0.2, 5xx -0.5 and the end, an
  // invalid method -0.1, the step limit -1, clipped to [-1, 1]; the knobs are not read.
  std::string preset = "default";
  // At the goal with the side-effect budget kept.
  double goal = 1.0;
  // At the goal with writable properties changed that should not be.
  double goal_with_collateral = 0.3;
  double step = -0.01;
  double client_error = -0.05;
  // A GET whose answer the episode has, with nothing changed and no time let go by since.
  double repeated_read = -0.1;
  // All milestones together, in equal shares, each at the first time that it holds.
  double milestones = 0.2;
  // For each property that is changed and should not be; given back when it is set back.
  double collateral = -0.1;
  // Once, when a fleet draws more than its power budget.
  double over_budget = -0.5;

  void Visit(runtime::Visitor& visitor);
};

struct EnvironmentOptions {
  std::string kind = "redfish";
  // Each by its name in <data>/captures, or by the path of an archive or folder.
  std::vector<std::string> captures = {"openbmc-stock", "dmtf-rackmount1", "hpe-dl380a-gen12",
                                       "dell-r750"};
  // Numbers of goals in <data>/goals and of request sequences in <data>/demonstrations; empty: all
  // of the goals, no sequence.
  std::vector<std::int64_t> goals = {1, 2, 3, 4, 5, 11};
  // The capture that training leaves out, named in either way; empty: none.
  std::string hold_out = "";
  // "http": through the mock server. "inprocess": the same service as objects of the actor.
  std::string access = "http";
  // Requests in an episode; the limit is part of the task.
  std::int64_t episode_limit = 16;
  // Services of one environment: 1, or a fleet that shares a power budget.
  std::int64_t fleet_size = 1;
  // Of a fleet; 0: each episode draws one. Never less than what its start draws.
  std::int64_t power_budget_watts = 0;
  // Folder with captures/, goals/, schema/ and perhaps demonstrations/.
  std::string data = "data";
  // Share of a goal's words that training's sentences leave out, but for what stands for values
  // and for a fleet's own words.
  double word_dropout = 0.0;
  // By which `wait` moves the service's clock.
  std::int64_t wait_seconds = 5;
  // Of one loop to the mock server.
  std::int64_t connections = 16;
  // Memory of one loop for what it derives from answers: texts of bodies, candidates of resources.
  std::int64_t response_cache_bytes = std::int64_t{256} << 20;
  // Tries to begin an episode that the service refuses, with a pause between two that doubles; then
  // the pair of goal and capture is given up for the rest of the process.
  std::int64_t reset_attempts = 5;
  RewardOptions rewards = {};

  // The captures that training plays: all but the one that is held out.
  std::vector<std::string> training_captures() const;
  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::actor
