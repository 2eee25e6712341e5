// SPDX-License-Identifier: Apache-2.0
// The flags that say how a real host is reached.
#pragma once

#include <CLI/App.hpp>

#include "operate/host_access.h"

namespace shoal::cli {

// `access` outlives the command.
void AddHostAccess(CLI::App& command, operate::HostAccess& access);

}  // namespace shoal::cli
