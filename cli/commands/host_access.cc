// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/host_access.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "redfish/discovery/service_url.h"

namespace shoal::cli {
namespace {

std::chrono::milliseconds FromSeconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

void AddHostAccess(CLI::App& command, HostAccessFlags& flags) {
  command.add_option("--user", flags.user, "who asks; without: nobody logs in");
  command.add_option("--password-file", flags.password_file,
                     "file whose first line is the user's password");
  command
      .add_option("--auth", flags.authentication,
                  "session: log in, and out at the end; basic: say it with each request")
      ->check(CLI::IsMember({"session", "basic"}))
      ->capture_default_str();
  command.add_option("--ca-file", flags.tls.authority_file,
                     "PEM authorities to trust instead of the system's");
  command.add_flag("--insecure", flags.insecure, "trust any certificate");
  command.add_option("--timeout", flags.timeout_seconds, "seconds to wait for one answer")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  command
      .add_option("--pace", flags.pace_seconds, "seconds from one request to the next, at least")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command.add_option("--attempts", flags.attempts, "attempts of each read, with growing pauses")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

absl::StatusOr<operate::HostOptions> HostOptionsOf(const HostAccessFlags& flags,
                                                   const std::string& url) {
  SHOAL_ASSIGN_OR_RETURN(const http::Url parsed, discovery::ParseServiceUrl(url));
  operate::HostOptions options = {.name = parsed.Origin(), .pace = FromSeconds(flags.pace_seconds)};
  discovery::CrawlOptions& access = options.access;
  access.connection.address = http::Format(parsed.address);
  access.connection.connect_deadline = FromSeconds(flags.timeout_seconds);
  access.connection.request_deadline = FromSeconds(flags.timeout_seconds);
  access.attempts = flags.attempts;
  if (flags.pace_seconds > 0) {
    access.requests_per_second = 1.0 / flags.pace_seconds;
    access.concurrency = 1;
  }
  if (parsed.secure) {
    http::ClientTlsOptions tls = flags.tls;
    tls.verify = !flags.insecure;
    SHOAL_ASSIGN_OR_RETURN(access.connection.tls, http::ClientTls(tls));
  }
  if (flags.user.empty()) return options;
  if (flags.password_file.empty()) {
    return runtime::InvalidArgument("--user needs --password-file");
  }
  access.user = flags.user;
  SHOAL_ASSIGN_OR_RETURN(access.password, ReadLoginPassword(flags));
  access.authentication = flags.authentication == "basic" ? discovery::Authentication::kBasic
                                                          : discovery::Authentication::kSession;
  return options;
}

absl::StatusOr<std::string> ReadLoginPassword(const HostAccessFlags& flags) {
  return runtime::ReadSecret(flags.password_file);
}

}  // namespace shoal::cli
