// SPDX-License-Identifier: Apache-2.0
// What `shoal do` is told on its command line.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "operate/host_access.h"

namespace shoal::cli {

struct DoFlags {
  std::string sentence;
  // The numbers or names of goals; empty for what the sentence asks for.
  std::vector<std::string> goals;
  std::vector<std::string> settings;
  std::vector<std::string> setting_files;
  std::vector<std::string> hosts;
  // A file that lists further hosts (operate/host_list.h); empty for none.
  std::string host_file;
  std::string capture;
  std::string data = "data";
  std::string audit = "runs/do";
  // The folder of the run whose policy solves the goal; empty for the expert's
  // plan.
  std::string policy;
  operate::HostAccess access;
  std::int64_t budget = -1;
  std::vector<std::string> uris;
  std::vector<std::string> methods;
  double settle_seconds = 600;
  double doubt_seconds = 5;
  double deadline_minutes = 0;
  bool execute = false;
  bool abandon = false;
};

// Adds the argument and the flags to `command`. Parsing it fills `flags`, which
// must outlive it.
void AddDoFlags(CLI::App& command, DoFlags& flags);

}  // namespace shoal::cli
