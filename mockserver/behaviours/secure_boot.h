// SPDX-License-Identifier: Apache-2.0
// UEFI Secure Boot: SecureBootEnable takes effect at the next boot, and is refused while the BIOS
// boots in legacy mode.
//
// SecureBoot.ResetKeys and SecureBootDatabase.ResetKeys act at once on the certificates and
// signatures of the databases: they remove them, or restore the captured ones. Without a platform
// key the mode is SetupMode; with the key restored, it is UserMode.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddSecureBoot(HandlerTable& handlers);

}  // namespace shoal::mockserver
