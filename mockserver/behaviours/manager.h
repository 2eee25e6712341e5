// SPDX-License-Identifier: Apache-2.0
// Managers (BMCs): Manager.Reset restarts the one that serves the API, which is then gone for a
// while.
//
// While it restarts every request is answered with 503 and Retry-After (the window is
// InstanceOptions::manager_restart; none when 0). Systems run on. The restart is in the history as
// "reset" with the manager's URI.
//
// Manager.ResetToDefaults gives the manager and what is below it back what was captured, which
// stands for factory defaults, and restarts it. PreserveNetwork keeps the network's resources;
// PreserveNetworkAndUsers keeps the accounts, too, which otherwise are again the captured ones with
// their first password.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddManager(HandlerTable& handlers);

}  // namespace shoal::mockserver
