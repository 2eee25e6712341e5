// SPDX-License-Identifier: Apache-2.0
// `shoal demonstrations record|show`: what experts do, as a file that learners train on.
//
// Recording is an actor's job (mode "record"): the program is started, waited for, and what it
// wrote is read back and summarised.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::cli {

struct RecordFlags {
  // Cluster file whose [environment] counts; empty: defaults.
  std::string config_path;
  // "1,3"; empty: those of the configuration.
  std::string goals;
  // Empty: those of the configuration.
  std::vector<std::string> captures;
  std::int64_t episodes = 40;
  std::int64_t seed = 1;
  double fault_rate = 0;
  std::string out;
};

// What the file holds, for people; the error names file and offset.
absl::StatusOr<std::string> ShowDemonstrations(const std::string& path);
// Records with the `actor` program of `programs`; returns the summary of what it wrote.
absl::StatusOr<std::string> RecordDemonstrations(const RecordFlags& flags,
                                                 const std::string& programs);

// Adds the subcommand to `app`; when it is the one that is typed, `action` becomes what runs it and
// returns the exit code.
void AddDemonstrations(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
