// SPDX-License-Identifier: Apache-2.0
// How a command of `shoal` ends: what it prints, and its exit code (runtime/program.h).
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::cli {

// Says why the command could not do what it was asked, on stderr. Returns the exit code:
// configuration for INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS and FAILED_PRECONDITION, failed for
// the rest.
int FailCommand(const absl::Status& status);

// Prints the text and returns 0, or fails.
int PrintResult(const absl::StatusOr<std::string>& text);

}  // namespace shoal::cli
