// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/policy_server.h"

#include <utility>
#include <vector>

#include "cli/cluster/effective_config.h"
#include "cli/cluster/local_cluster.h"

namespace shoal::cli {

absl::StatusOr<std::unique_ptr<PolicyServer>> PolicyServer::Start(
    const PolicyServerOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, FreeLoopbackAddresses(1));
  const std::string& address = addresses.front();
  ProcessSpec spec = {
      .name = "inference",
      .command = {options.programs + "/inference", "--config", options.config_path, "--index", "0"},
      .log_path = options.log_path};
  // In lock step the server would wait for all of a training's environments.
  AppendSettings({"run.deterministic=false", "cluster.replay=[]", "cluster.replay_file=\"\"",
                  "cluster.inference_file=\"\"", "cluster.learner=\"\"",
                  "cluster.inference=" + TomlList({address}), "inference.metrics_listen=\"\"",
                  "inference.parameters_folder=" + TomlText(options.parameters)},
                 spec.command);
  if (options.seed) AppendSettings({"run.seed=" + std::to_string(*options.seed)}, spec.command);
  SHOAL_ASSIGN_OR_RETURN(auto child, ChildProcess::Start(spec));
  return std::unique_ptr<PolicyServer>(
      new PolicyServer(address, options.log_path, std::move(child)));
}

PolicyServer::PolicyServer(std::string address, std::string log_path,
                           std::unique_ptr<ChildProcess> child)
    : address_(std::move(address)), log_path_(std::move(log_path)), child_(std::move(child)) {}

absl::Status PolicyServer::Check() {
  const std::optional<ExitState> end = child_->Poll();
  if (!end) return absl::OkStatus();
  return runtime::FailedPrecondition("the policy's inference ended with " + ToString(*end) + ": " +
                                     LastFailure(log_path_));
}

}  // namespace shoal::cli
