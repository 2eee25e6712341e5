// SPDX-License-Identifier: Apache-2.0
// Managers (BMCs): Manager.Reset restarts the manager that serves the API, so that the API is
// unavailable for a while.
//
// During the restart, for InstanceOptions::manager_restart (0 means no restart time), every request
// is answered with 503 and Retry-After. Systems keep running. The history records the restart as
// "reset" with the manager's URI.
//
// Manager.ResetToDefaults restores the captured state of the manager and everything below it, which
// stands for factory defaults, and restarts it. PreserveNetwork keeps the network's resources.
// PreserveNetworkAndUsers keeps the accounts as well; otherwise the accounts become the captured
// ones with their first password.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddManager(HandlerTable& handlers);

}  // namespace shoal::mockserver
