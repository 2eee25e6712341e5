// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/cluster_file.h"

#include "platform/runtime/config.h"
#include "platform/transport/address_list.h"

namespace shoal::cli {

absl::StatusOr<runtime::ClusterOptions> ReadClusterFile(const std::string& path) {
  runtime::ClusterOptions cluster;
  runtime::Config config;
  config.Add("cluster", cluster);
  SHOAL_RETURN_IF_ERROR(config.Load(path, {}));
  SHOAL_ASSIGN_OR_RETURN(
      const auto shards,
      transport::AddressList::Create(cluster.replay, cluster.replay_file, "replay shard"));
  SHOAL_ASSIGN_OR_RETURN(const auto servers,
                         transport::AddressList::Create(cluster.inference, cluster.inference_file,
                                                        "inference server"));
  cluster.replay = shards.addresses();
  cluster.inference = servers.addresses();
  return cluster;
}

}  // namespace shoal::cli
