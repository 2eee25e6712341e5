// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis/cluster_state.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/diagnosis/process_health.h"
#include "platform/content/parse_json.h"
#include "replay/client/shard_admin.h"

namespace shoal::cli {

std::string ToJson(const std::vector<MetricsAddress>& processes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const MetricsAddress& process : processes) {
    list.push_back({{"name", process.name}, {"metrics", process.address}});
  }
  return list.dump(1) + "\n";
}

absl::StatusOr<std::vector<MetricsAddress>> ParseMetricsAddresses(const std::string& text) {
  const nlohmann::json list = content::ParseJson(text);
  if (!list.is_array()) return runtime::InvalidArgument("no list of processes");
  std::vector<MetricsAddress> processes;
  for (const nlohmann::json& process : list) {
    const auto has = [&process](const char* key) {
      return process.is_object() && process.contains(key) && process[key].is_string();
    };
    if (!has("name") || !has("metrics")) {
      return runtime::InvalidArgument("a process has no name or no address for metrics");
    }
    processes.push_back(
        {process["name"].get<std::string>(), process["metrics"].get<std::string>()});
  }
  return processes;
}

ClusterState AskCluster(const runtime::ClusterOptions& cluster,
                        const std::vector<MetricsAddress>& processes, runtime::Duration timeout) {
  ClusterState state;
  const auto ask = [&](const char* role, const std::string& address, const std::string& at) {
    if (address.empty()) return;
    state.serving.push_back({role, address, CheckAddress(at, timeout)});
  };
  ask("mock server", cluster.mockserver, "http://" + cluster.mockserver + "/redfish/v1");
  for (const std::string& address : cluster.replay) ask("replay shard", address, address);
  for (const std::string& address : cluster.inference) ask("inference server", address, address);
  ask("learner", cluster.learner, cluster.learner);
  auto answers = replay::client::AskShards(cluster.replay, timeout);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    state.shards.push_back({cluster.replay[i], std::move(answers[i])});
  }
  for (const MetricsAddress& process : processes) {
    state.measured.push_back({process.name, ScrapeMetrics(process.address)});
  }
  return state;
}

}  // namespace shoal::cli
