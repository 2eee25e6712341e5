// SPDX-License-Identifier: Apache-2.0
// The command line of `shoal`: subcommands, their flags and their help.
#pragma once

#include "platform/runtime/clock.h"

namespace shoal::cli {

// Parses and runs the command line and returns the exit code. `started` is when the program began.
int RunCommandLine(int argc, char** argv, runtime::TimePoint started);

}  // namespace shoal::cli
