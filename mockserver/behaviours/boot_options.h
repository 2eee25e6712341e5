// SPDX-License-Identifier: Apache-2.0
// PATCH of a system's Boot, or of the Boot of its settings object, beyond what the schema judges:
//
//   BootOrder   must have at least one option, and only options that the system has
//   BootNext    must be an option that the system has
//   BootSourceOverrideTarget UefiBootNext is for one boot and conflicts with Continuous
//
// A system's options are the members of its BootOptions and the entries of BootOrder. Where it has
// neither, every name is accepted. ComputerSystem.SetDefaultBootOrder restores the captured order.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddBootOptions(HandlerTable& handlers);

}  // namespace shoal::mockserver
