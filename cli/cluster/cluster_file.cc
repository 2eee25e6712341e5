// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/cluster_file.h"

#include "platform/runtime/config.h"

namespace shoal::cli {

absl::StatusOr<runtime::ClusterOptions> ReadClusterFile(const std::string& path) {
  runtime::ClusterOptions cluster;
  runtime::Config config;
  config.Add("cluster", cluster);
  SHOAL_RETURN_IF_ERROR(config.Load(path, {}));
  return cluster;
}

}  // namespace shoal::cli
