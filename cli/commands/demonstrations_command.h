// SPDX-License-Identifier: Apache-2.0
// `shoal demonstrations record|show`: records what experts do as a file that learners train on.
//
// An actor does the recording (mode "record"): the command starts it, waits for it, and summarises
// what it wrote.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

struct RecordFlags {
  // Cluster file whose [environment] applies. Empty means the defaults.
  std::string config_path;
  // Numbers such as "1,3". Empty means the goals of the configuration.
  std::string goals;
  // Empty means the captures of the configuration.
  std::vector<std::string> captures;
  std::int64_t episodes = 40;
  std::int64_t seed = 1;
  // Nothing means that of the configuration.
  std::optional<double> fault_rate = {};
  std::string out;
};

// Returns a readable summary of the file. An error names the file and the offset.
absl::StatusOr<std::string> ShowDemonstrations(const std::string& path);
// Records with the program `actor` in the folder `programs` and returns a summary of what it wrote.
absl::StatusOr<std::string> RecordDemonstrations(const RecordFlags& flags,
                                                 const std::string& programs);

// Adds the subcommand to `app`. Parsing it sets `action` to a function that runs it and returns the
// exit code.
void AddDemonstrations(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
