// SPDX-License-Identifier: Apache-2.0
// The flag --redact of commands that write captures.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "redfish/capture/redaction.h"

namespace shoal::cli {

// Adds it; `choice`, which holds the default, outlives `command`.
void AddRedact(CLI::App& command, std::string& choice);
// What `choice` asks for; nothing for "none".
std::optional<redfish::RedactionOptions> RedactionOf(const std::string& choice);

}  // namespace shoal::cli
