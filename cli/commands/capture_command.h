// SPDX-License-Identifier: Apache-2.0
// `shoal capture verify|diff|redact|import|pack|show`: commands that work on a recorded service.
//
// Exit codes are 0 for success, 1 when verify finds a fault, diff finds a difference, or something
// failed, and 2 for wrong usage or input.
#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <functional>
#include <string>

#include "redfish/capture/capture_check.h"
#include "redfish/capture/capture_difference.h"
#include "redfish/capture/capture_import.h"

namespace shoal::cli {

// Adds the subcommands to `app`. Parsing one sets `action` to a function that runs it and returns
// the exit code.
void AddCapture(CLI::App& app, std::function<int()>& action);

// The texts that `shoal capture` prints about captures, checks and differences. Every text ends
// with a newline.
//
// One line for each fault and each dangling member, at most `listed` of each. The last line has the
// counts.
std::string TextOf(const redfish::CaptureCheck& check, std::size_t listed);

// Lines "+ URI", "- URI" and "~ URI". Unless `names_only`, a line for each property follows. The
// last line has the counts.
std::string TextOf(const redfish::CaptureDifference& difference, bool names_only);

// Name, digest, counts, and the number of resources of each type, most frequent first.
std::string TextOf(const redfish::ImportedCapture& imported);

}  // namespace shoal::cli
