// SPDX-License-Identifier: Apache-2.0
// The flag --redact of the commands that write captures.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "redfish/capture/redaction.h"

namespace shoal::cli {

// Adds the flag. `choice` holds the default and outlives `command`.
void AddRedact(CLI::App& command, std::string& choice);
// Returns the redaction that `choice` names, or nothing for "none".
std::optional<redfish::RedactionOptions> RedactionOf(const std::string& choice);

}  // namespace shoal::cli
