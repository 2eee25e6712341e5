// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/host_access.h"

#include <CLI/CLI.hpp>

namespace shoal::cli {

void AddConnection(CLI::App& command, operate::HostAccess& access) {
  CLI::Option* const password = command.add_option("--password-file", access.password_file,
                                                   "file whose first line is the user's password");
  command.add_option("--user", access.user, "who asks; without: nobody logs in")->needs(password);
  command
      .add_option("--auth", access.authentication,
                  "session: log in, and out at the end; basic: say it with each request")
      ->check(CLI::IsMember({"session", "basic"}))
      ->capture_default_str();
  command.add_option("--ca-file", access.ca_file,
                     "PEM authorities to trust instead of the system's");
  command.add_flag("--insecure", access.insecure, "trust any certificate");
  command.add_option("--timeout", access.timeout_seconds, "seconds to wait for one answer")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
}

void AddHostAccess(CLI::App& command, operate::HostAccess& access) {
  AddConnection(command, access);
  command
      .add_option("--pace", access.pace_seconds, "seconds from one request to the next, at least")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command.add_option("--attempts", access.attempts, "attempts of each read, with growing pauses")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

}  // namespace shoal::cli
