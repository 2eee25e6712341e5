// SPDX-License-Identifier: Apache-2.0
// The addresses of a cluster that is running, as its cluster file names them.
#pragma once

#include <string>

#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

// The file that `shoal train` and `shoal up` write for their latest run, with all addresses.
inline constexpr char kLatestCluster[] = "runs/latest/config.toml";

// Returns the section [cluster] of the file, in which `replay` is what replay_file names and
// `inference` what inference_file names, if it has these. Returns INVALID_ARGUMENT, which names
// file and line, for a file that is wrong, and NOT_FOUND without the file or one that it names.
absl::StatusOr<runtime::ClusterOptions> ReadClusterFile(const std::string& path);

}  // namespace shoal::cli
