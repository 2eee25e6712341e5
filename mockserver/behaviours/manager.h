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
//
// With a real clock, the DateTime of a manager runs: it is the service's time, in the manager's
// DateTimeLocalOffset, until a client sets another time, which then runs. The time is written into
// answers and is no change of the resource, so that ETags stay. With a virtual clock, DateTime is a
// property as others are.
#pragma once

#include <optional>
#include <string>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

// Returns the time that a manager shows in place of its DateTime, or nothing when the resource
// shows what it holds.
std::optional<std::string> ManagerTime(const Editor& editor, ResourceId id);

// Writes ManagerTime into `response`, which shows the resource `id`.
void ShowManagerTime(const Editor& editor, ResourceId id, Response& response);

void AddManager(HandlerTable& handlers);

}  // namespace shoal::mockserver
