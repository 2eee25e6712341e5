// SPDX-License-Identifier: Apache-2.0
// How a command of `shoal` ends that could not do what it was asked.
#pragma once

#include "runtime/status.h"

namespace shoal::cli {

// Says why on stderr. Returns the exit code (runtime/program.h): configuration for
// INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS and FAILED_PRECONDITION, failed for the rest.
int FailCommand(const absl::Status& status);

}  // namespace shoal::cli
