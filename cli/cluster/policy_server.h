// SPDX-License-Identifier: Apache-2.0
// An inference process of its own that acts by what a run has learned, for as long as the object
// lives.
//
// Not thread-safe: the main thread owns it (see ChildProcess).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/cluster/child_process.h"
#include "platform/runtime/status.h"

namespace shoal::cli {

struct PolicyServerOptions {
  // The folder of the programs.
  std::string programs;
  // The run's configuration, and a folder of its parameters, the newest of which act.
  std::string config_path;
  std::string parameters;
  // The file of the server's log.
  std::string log_path;
  // What drawn actions are a function of; the run's own seed if it is missing.
  std::optional<std::uint64_t> seed = std::nullopt;
};

class PolicyServer {
 public:
  // Starts the server, which listens some time later. NOT_FOUND when its program is missing, other
  // errors as of FreeLoopbackAddresses and ChildProcess::Start.
  static absl::StatusOr<std::unique_ptr<PolicyServer>> Start(const PolicyServerOptions& options);

  // The "host:port" on which the server listens.
  const std::string& address() const { return address_; }
  // Returns FAILED_PRECONDITION with the server's own words when it has ended.
  absl::Status Check();

 private:
  PolicyServer(std::string address, std::string log_path, std::unique_ptr<ChildProcess> child);

  const std::string address_;
  const std::string log_path_;
  const std::unique_ptr<ChildProcess> child_;
};

}  // namespace shoal::cli
