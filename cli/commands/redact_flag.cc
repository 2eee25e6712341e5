// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/redact_flag.h"

#include <CLI/CLI.hpp>

namespace shoal::cli {

void AddRedact(CLI::App& command, std::string& choice) {
  command
      .add_option("--redact", choice,
                  "what is taken out: secrets; serials: also serial numbers; none")
      ->check(CLI::IsMember({"secrets", "serials", "none"}))
      ->capture_default_str();
}

std::optional<redfish::RedactionOptions> RedactionOf(const std::string& choice) {
  if (choice == "none") return std::nullopt;
  return redfish::RedactionOptions{.serial_numbers = choice == "serials"};
}

}  // namespace shoal::cli
