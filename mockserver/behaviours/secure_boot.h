// SPDX-License-Identifier: Apache-2.0
// UEFI Secure Boot: what SecureBootEnable asks for is in force from the next boot, and it cannot be
// asked for while the BIOS boots in legacy mode.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddSecureBoot(HandlerTable& handlers);

}  // namespace shoal::mockserver
