// SPDX-License-Identifier: Apache-2.0
// The list of all behaviours: a new one is added to it by one line.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

// The behaviours of every stateful instance; immutable, and alive until the process ends.
const HandlerTable& BuiltInHandlers();

}  // namespace shoal::mockserver
