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
  // Trains, then evaluates.
  kTrain,
  // Runs until stopped and evaluates nothing.
  kUp,
  // Evaluates what a run has learned, without training.
  kEvaluate,
};

struct TrainFlags {
  Purpose purpose = Purpose::kTrain;
  std::string config_path;
  // The directory of a run to go on with, whose configuration is then `config_path`. Empty for a
  // new run.
  std::string resume = "";
  // Empty means a name made of the cluster file's name and the time.
  std::string name = "";
  std::optional<std::int64_t> seed = std::nullopt;
  std::optional<double> minutes = std::nullopt;
  // Numbers such as "1,3".
  std::string goals = "";
  std::vector<std::string> captures = {};
  // "http" or "inprocess".
  std::string access = "";
  // Where policy, updates and language models compute. Empty: as the configuration says.
  std::string device = "";
  std::string hold_out = "";
  std::optional<std::int64_t> world_size = std::nullopt;
  std::optional<std::int64_t> episodes = std::nullopt;
  // Run the cluster as threads of one process.
  bool in_process = false;
  // Start only evaluators, as the cluster runs already.
  bool attach = false;
  // The preset whose settings override the file. Empty for none.
  std::string preset = "";
  // Settings "section.key=value", which override the file and the other flags.
  std::vector<std::string> overrides = {};
  // A file with a person's sentences for the evaluation. Empty for the goals' own.
  std::string phrasings = "";
  // What an evaluation takes away from the agent: "bodies", "memory" or "words". Empty for nothing.
  std::string ablate = "";
  // Whether an evaluation plays each episode in two worlds that differ in the decisive value.
  bool exchange = false;
  // The whole command line, which the run directory keeps.
  std::string command_line = "";
};

// Runs the command and returns an exit code. `started` is when this program began.
int RunTrain(const TrainFlags& flags, runtime::TimePoint started);

// Evaluates with everything that the agent sees, and again without `flags.ablate`. The last line
// printed compares the two. REQUIRES: the purpose is kEvaluate.
int RunAblation(const TrainFlags& flags, runtime::TimePoint started);

// Evaluates, and again with the decisive values exchanged (cli/results/exchange.h). The last line
// printed says in how many episodes the learned policy's requests followed. REQUIRES: the purpose
// is kEvaluate.
int RunExchange(const TrainFlags& flags, runtime::TimePoint started);

}  // namespace shoal::cli
