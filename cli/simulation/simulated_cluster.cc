// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation/simulated_cluster.h"

#include <algorithm>
#include <string>

namespace shoal::cli {
namespace {

// Reads numbers, and remembers the first one that is missing.
class Numbers {
 public:
  explicit Numbers(const EffectiveConfig& config) : config_(config) {}

  double Of(const std::string& path) {
    const std::optional<double> number = config_.Number(path);
    if (!number && status_.ok()) {
      status_ = runtime::InvalidArgument("the configuration has no number " + path);
    }
    return number.value_or(0);
  }
  std::int64_t Count(const std::string& path) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(Of(path)));
  }
  const absl::Status& status() const { return status_; }

 private:
  const EffectiveConfig& config_;
  absl::Status status_;
};

// Returns the position of the table in replay's configuration.
absl::StatusOr<int> TableOf(const EffectiveConfig& config, const std::string& name) {
  for (int i = 0;; ++i) {
    const auto found = config.Text("replay.table[" + std::to_string(i) + "].name");
    if (!found) return runtime::InvalidArgument("replay has no table " + name);
    if (*found == name) return i;
  }
}

}  // namespace

absl::StatusOr<SimulatedCluster> SimulatedCluster::From(const EffectiveConfig& config,
                                                        const runtime::ClusterOptions& cluster,
                                                        std::int64_t gpus) {
  Numbers numbers(config);
  SHOAL_ASSIGN_OR_RETURN(const int position,
                         TableOf(config, config.Text("learner.table").value_or("unrolls")));
  const std::string table = "replay.table[" + std::to_string(position) + "].";
  SimulatedCluster out;
  out.actors = cluster.actors;
  out.inference_servers = cluster.inference_servers;
  out.inference_devices =
      InferenceDevices::Of(config.Text("inference.device").value_or("auto"), gpus);
  out.replay_shards = cluster.replay_shards;
  out.learner_ranks = cluster.learner_ranks;
  out.has_services =
      config.Text("environment.kind") == "redfish" && config.Text("environment.access") == "http";
  out.environments = numbers.Count("actor.environments");
  out.actor_threads = numbers.Count("actor.threads");
  out.rows_per_message = std::min(out.environments, numbers.Count("actor.rows_per_message_min"));
  out.max_rows = numbers.Count("inference.max_rows");
  out.max_delay_seconds = numbers.Of("inference.max_delay_us") * 1e-6;
  out.unroll_length =
      numbers.Count(config.Text("inference.unroll_cut") == "episode" ? "inference.max_episode_rows"
                                                                     : "inference.unroll_length");
  out.outbox_items = numbers.Count("inference.outbox_items");
  out.queue = numbers.Of(table + "max_times_sampled") == 1;
  out.table_items = numbers.Count(table + "max_size");
  const double samples_per_insert = numbers.Of(table + "samples_per_insert");
  out.samples_per_insert = samples_per_insert > 0 ? samples_per_insert : 1;
  out.error_buffer_steps = numbers.Of(table + "error_buffer");
  out.round_unrolls = numbers.Count("learner.round_unrolls");
  out.max_lag = static_cast<std::int64_t>(numbers.Of("learner.max_lag"));
  out.learner_threads = numbers.Count("learner.torch_threads");
  out.reductions =
      numbers.Count("algorithm.update_epochs") * numbers.Count("algorithm.minibatches");
  out.publish_every_updates = numbers.Count("learner.publish_every_updates");
  SHOAL_RETURN_IF_ERROR(numbers.status());
  return out;
}

}  // namespace shoal::cli
