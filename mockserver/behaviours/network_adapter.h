// SPDX-License-Identifier: Apache-2.0
// NetworkAdapter.ResetSettingsToDefault restores the captured state of the adapter, its ports and
// its functions.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddNetworkAdapter(HandlerTable& handlers);

}  // namespace shoal::mockserver
