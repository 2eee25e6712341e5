// SPDX-License-Identifier: Apache-2.0
// Reads the files that a run has written. A run may still go on, be of another version or have been
// edited, so what is missing or does not parse is left out.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/cluster/local_cluster.h"

namespace shoal::cli {

// Returns the file's text, or nothing if it cannot be read.
std::string ReadOrEmpty(const std::string& path);

// Returns the JSON object of each line. Lines that do not parse are left out, such as the
// unfinished last line of a run that goes on.
std::vector<nlohmann::json> ReadLines(const std::string& path);

// Returns the JSON object of a file, or an empty one.
nlohmann::json ReadObject(const std::string& path);

// Returns the line "digest=..." that a finished learner printed about its parameters. Empty for
// other learners.
std::string DigestLine(const std::vector<PlannedProcess>& processes);

}  // namespace shoal::cli
