// SPDX-License-Identifier: Apache-2.0
// Section [environment] of the configuration: what agents act in. Training and evaluation share it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actor/environments/classic/simulation_kind.h"
#include "actor/environments/exploration_options.h"
#include "actor/environments/gymnasium_options.h"
#include "actor/environments/host_service.h"
#include "actor/environments/placement_options.h"
#include "actor/environments/service_faults.h"
#include "platform/runtime/config.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

struct RewardOptions {
  // "default" uses the knobs below. "igc" ignores them: it gives +1 at the goal, 0.1 for 2xx, -0.2
  // for 4xx, -0.5 and the end of the episode for 5xx, -0.1 for a method that is not allowed (405),
  // -1 at the step limit, and clips each step's sum to [-1, 1].
  std::string preset = "default";
  // The reward for a goal that is reached without side effects.
  double goal = 1.0;
  // The reward for a goal that is reached with writable properties changed that should not be.
  double goal_with_collateral = 0.3;
  double step = -0.01;
  // The reward for each choice by which a request is put together. Without a cost, an agent that
  // expects nothing good puts off sending by choosing on.
  double choice = -0.005;
  double client_error = -0.05;
  // The reward for a GET whose answer the episode has already, with nothing changed and no `wait`
  // since.
  double repeated_read = -0.1;
  // The reward for all milestones together, in equal shares, each given when it first holds.
  double milestones = 0.2;
  // The reward for each property that is changed and should not be. It is given back when the
  // property is restored.
  double collateral = -0.1;
  // The reward when a fleet draws more than its power budget, which ends the episode.
  double over_budget = -0.5;

  void Visit(runtime::Visitor& visitor);
};

// Room for a first guess that is wrong, where the expert needs a request or two.
inline constexpr std::int64_t kShortestLimit = 8;

struct EnvironmentOptions {
  // "redfish"; "placement", which reads `placement` alone of what follows; "gymnasium", which reads
  // `gymnasium` alone; or one of SimulationKinds(), which read `simulation` and `exploration`
  // alone.
  std::string kind = "redfish";
  // Each is a name or path, as redfish/capture/capture_path.h says, with <data> as the data folder.
  std::vector<std::string> captures = {"openbmc-stock", "dmtf-rackmount1", "hpe-dl380a-gen12",
                                       "dell-r750"};
  // Numbers of goals in <data>/goals and <data>/reading, and of request sequences in
  // <data>/demonstrations. Empty means all of <data>/goals and nothing else.
  std::vector<std::int64_t> goals = {1, 2, 3, 4, 5, 11};
  // The capture that training leaves out with all its variants, by name or path. Empty means none.
  std::string hold_out = "";
  // "http" reaches services through the mock server. "inprocess" makes them objects of the actor.
  // "host" is one real host, whose capture must be the only one of `captures`.
  std::string access = "http";
  // Requests in an episode. The limit is part of the task.
  std::int64_t episode_limit = 16;
  // If above 0, an episode of a pair of goal and capture is limited to this many times the requests
  // that the pair's expert needs, but not to fewer than kShortestLimit and not to more than
  // episode_limit, which is also the limit where the expert fails. Episodes that have to wait for
  // tasks get as many times what that takes. 0 or at least 1. Without effect on fleets.
  double limit_per_expert_request = 0.0;
  // Services of one environment. More than 1 form a fleet that shares a power budget.
  std::int64_t fleet_size = 1;
  // The power budget of a fleet, which is never below what the fleet draws at the start. With 0
  // each episode samples one.
  std::int64_t power_budget_watts = 0;
  // The folder that holds captures/, goals/, schema/ and perhaps reading/ and demonstrations/.
  std::string data = "data";
  // Share of a goal's words that the texts of training leave out. Words that stand for values and a
  // fleet's own words are always kept.
  double word_dropout = 0.0;
  // Share of a goal's longer words that the texts of training mistype. Values are never mistyped.
  double typos = 0.0;
  // How far `wait` moves the service's clock.
  std::int64_t wait_seconds = 5;
  // The most values of bodies that the episode has read which the slot of a request is offered. 0
  // offers none: values then come from the goal's sentence and from lists alone.
  std::int64_t read_values = 0;
  // HTTP connections of one loop to the mock server.
  std::int64_t connections = 16;
  // Memory of one loop for what it derives from answers, in bytes.
  std::int64_t response_cache_bytes = std::int64_t{256} << 20;
  // How often to try to begin an episode that the service refuses, with a pause that doubles
  // between tries. Then the pair of goal and capture is given up for the rest of the process.
  std::int64_t reset_attempts = 5;
  // A TOML file with sentences by goal that evaluations use in place of the goals' own, as
  // redfish::WithEvaluationPhrasings reads it. Empty for none.
  std::string phrasings = "";
  // What an evaluation takes away from the agent, with everything that is derived from it: "bodies"
  // (of answers), "memory" (what the episode has done) or "words" (of the goal). Empty for nothing.
  std::string ablate = "";
  // Whether an episode whose situation names an exchange begins in that instead: the same draw, but
  // another member holds the value that decides which request is right.
  bool exchange = false;
  RewardOptions rewards = {};
  // What goes wrong with services, in training, evaluations and recordings alike.
  FaultOptions faults = {};
  SimulationOptions simulation = {};
  PlacementOptions placement = {};
  GymnasiumOptions gymnasium = {};
  // Rewards what is new as well, in training. For tasks whose observations are vectors of floats.
  ExplorationOptions exploration = {};
  RealHostOptions host = {};

  // These options without what goes wrong on purpose: faults of services, what `ablate` takes away,
  // and words of goals that are left out or mistyped. Episodes are otherwise the same.
  EnvironmentOptions undisturbed() const;
  // The captures that training plays: those that are not of the held-out one's family.
  std::vector<std::string> training_captures() const;
  void Visit(runtime::Visitor& visitor);
};

}  // namespace shoal::actor
