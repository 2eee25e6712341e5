// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/health_command.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>

#include "cli/commands/command_result.h"
#include "platform/http/address.h"
#include "platform/http/fetch.h"
#include "platform/runtime/program.h"
#include "platform/transport/channel.h"
#include "platform/transport/health_client.h"

namespace shoal::cli {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kUnix = "unix:";

struct HealthFlags {
  std::string address;
  double timeout_seconds = 5;
};

absl::Status CheckHttp(const std::string& rest, std::chrono::milliseconds timeout) {
  const std::size_t slash = rest.find('/');
  const std::string target = slash == std::string::npos ? "/" : rest.substr(slash);
  SHOAL_ASSIGN_OR_RETURN(const http::ClientResponse response,
                         http::Fetch(rest.substr(0, slash), {.target = target}, timeout));
  if (response.status == 200) return absl::OkStatus();
  return runtime::Unavailable("it answers " + std::to_string(response.status));
}

int RunHealth(const HealthFlags& flags) {
  const auto timeout = std::chrono::duration_cast<runtime::Duration>(
      std::chrono::duration<double>(flags.timeout_seconds));
  const absl::Status status = CheckAddress(flags.address, timeout);
  if (!status.ok()) {
    FailCommand(runtime::Annotate(status, flags.address));
    return runtime::kExitFailed;
  }
  std::printf("serving\n");
  return 0;
}

}  // namespace

absl::Status CheckAddress(const std::string& address, runtime::Duration timeout) {
  if (address.starts_with(kHttp)) {
    return CheckHttp(address.substr(kHttp.size()),
                     std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
  }
  if (!address.starts_with(kUnix)) SHOAL_RETURN_IF_ERROR(http::ParseAddress(address).status());
  return transport::CheckHealth(transport::CreateChannel(address), timeout);
}

void AddHealth(CLI::App& app, std::function<int()>& action) {
  const auto flags = std::make_shared<HealthFlags>();
  CLI::App* const health =
      app.add_subcommand("health", "Ask a process whether it serves; exit code 0 when it does");
  health
      ->add_option("ADDRESS", flags->address,
                   "host:port or unix:PATH (gRPC health), or http://host:port/path")
      ->required();
  health->add_option("--timeout", flags->timeout_seconds, "seconds to wait at most")
      ->check(CLI::Range(0.1, 600.0));
  health->callback([flags, &action] { action = [flags] { return RunHealth(*flags); }; });
}

}  // namespace shoal::cli
