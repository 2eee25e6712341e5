// SPDX-License-Identifier: Apache-2.0
// `shoal train`, `up` and `evaluate`: from flags to a running cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/clock.h"

namespace shoal::cli {

enum class Purpose : std::uint8_t {
  // Learn, then judge.
  kTrain,
  // Run until stopped; nothing is judged.
  kUp,
  // Judge what a run has learned; nothing is learned.
  kEvaluate,
};

struct TrainFlags {
  Purpose purpose = Purpose::kTrain;
  std::string config_path;
  // Empty: from the cluster file and the time.
  std::string name = "";
  std::optional<std::int64_t> seed = std::nullopt;
  std::optional<double> minutes = std::nullopt;
  // "1,3".
  std::string goals = "";
  std::vector<std::string> captures = {};
  // "http" or "inprocess".
  std::string access = "";
  std::string hold_out = "";
  std::optional<std::int64_t> world_size = std::nullopt;
  std::optional<std::int64_t> episodes = std::nullopt;
  // Start nothing but evaluators; the cluster is there.
  bool attach = false;
  // section.key=value, over the file and the other flags.
  std::vector<std::string> overrides = {};
  // The whole command, for the run directory.
  std::string command_line = "";
};

// Returns an exit code. `started`: when this program began.
int RunTrain(const TrainFlags& flags, runtime::TimePoint started);

}  // namespace shoal::cli
