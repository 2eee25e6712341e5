// SPDX-License-Identifier: Apache-2.0
// The list of all behaviours. A new behaviour adds a line to it.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

// Returns the behaviours of every stateful instance. The table is immutable and lives until the
// process ends.
const HandlerTable& BuiltInHandlers();

}  // namespace shoal::mockserver
