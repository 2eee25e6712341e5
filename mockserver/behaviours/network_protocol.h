// SPDX-License-Identifier: Apache-2.0
// PATCH of a ManagerNetworkProtocol beyond what the schema judges: a port must be 1 to 65535.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddNetworkProtocol(HandlerTable& handlers);

}  // namespace shoal::mockserver
