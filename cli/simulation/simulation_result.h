// SPDX-License-Identifier: Apache-2.0
// What a simulation of a cluster found, what limits the cluster, and both as a text for people and
// as JSON. Values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::cli {

// How much of a resource was in use, the mean over all of its kind: 0 to 1 where nothing else is
// said.
struct ResourceUse {
  // As in "processors of machine" or "inference".
  std::string resource;
  double share = 0;
};

struct SimulationResult {
  // What was measured, after the first third.
  double seconds = 0;
  double environment_steps_per_second = 0;
  double updates_per_second = 0;
  double learner_rows_per_second = 0;
  // The mean age of trained items, in published versions.
  double staleness = 0;
  // Items that were too old to be trained on, as a share of all.
  double stale_share = 0;
  double batch_rows = 0;
  // Where environments spend their time: "environment", "inference" and "room in replay"; adds up
  // to 1.
  std::vector<ResourceUse> environment_time;
  // The shares of learner ranks' time in which they had no rows, and waited for others.
  double learner_waits_share = 0;
  double learner_reduces_share = 0;
  // Every resource, the most used one first.
  std::vector<ResourceUse> resources;
  // How many processors each program keeps busy, by the names of programs.
  std::vector<ResourceUse> processor_time;
  // The resource that limits the cluster, in words.
  std::string limit;
  std::uint64_t events = 0;
};

// Returns what limits the cluster: a resource that is used more than nine tenths of the time, or a
// sentence on what the parts wait for. Processors come first, for a thread that waits for one
// counts as used; then devices, networks and threads.
std::string LimitOf(const SimulationResult& result);

std::string ToText(const SimulationResult& result);
// One object on one line; shares are from 0 to 1.
std::string ToJson(const SimulationResult& result);

}  // namespace shoal::cli
