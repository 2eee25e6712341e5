// SPDX-License-Identifier: Apache-2.0
// UEFI Secure Boot: what SecureBootEnable asks for is in force from the next boot, and it cannot be
// asked for while the BIOS boots in legacy mode.
//
// SecureBoot.ResetKeys and SecureBootDatabase.ResetKeys act at once on the certificates and
// signatures of the databases: they are removed, or are again what was captured. Without a platform
// key the mode is SetupMode; with it back, UserMode.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddSecureBoot(HandlerTable& handlers);

}  // namespace shoal::mockserver
