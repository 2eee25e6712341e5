// SPDX-License-Identifier: Apache-2.0
// The flags that say how a real host is reached.
#pragma once

#include <CLI/App.hpp>

#include "operate/host_access.h"

namespace shoal::cli {

// Here and below, `access` outlives the command. Adds the flags for login, trust and the time limit
// of one answer.
void AddConnection(CLI::App& command, operate::HostAccess& access);
// Adds these, and the flags for pace and attempts.
void AddHostAccess(CLI::App& command, operate::HostAccess& access);

}  // namespace shoal::cli
