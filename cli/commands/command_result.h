// SPDX-License-Identifier: Apache-2.0
// How a command of `shoal` ends: the text that it prints and its exit code
// (platform/runtime/program.h).
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::cli {

// Prints on stderr why the command failed. Returns the exit code: configuration for
// INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS and FAILED_PRECONDITION, failed for the rest.
int FailCommand(const absl::Status& status);

// Prints the text and returns 0, or fails as FailCommand does.
int PrintResult(const absl::StatusOr<std::string>& text);

}  // namespace shoal::cli
