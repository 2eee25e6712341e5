// SPDX-License-Identifier: Apache-2.0
// Logs: LogService.ClearLog removes all entries.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddLogService(HandlerTable& handlers);

}  // namespace shoal::mockserver
