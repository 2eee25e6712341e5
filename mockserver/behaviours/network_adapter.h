// SPDX-License-Identifier: Apache-2.0
// NetworkAdapter.ResetSettingsToDefault: the adapter, its ports and its functions are again as they
// were captured.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddNetworkAdapter(HandlerTable& handlers);

}  // namespace shoal::mockserver
