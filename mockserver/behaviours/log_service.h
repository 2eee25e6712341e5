// SPDX-License-Identifier: Apache-2.0
// Logs: LogService.ClearLog removes all entries. LogService.CollectDiagnosticData is a task that
// adds an entry, which names the type of data that the client asked for.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddLogService(HandlerTable& handlers);

}  // namespace shoal::mockserver
