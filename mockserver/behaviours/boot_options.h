// SPDX-License-Identifier: Apache-2.0
// PATCH of a system's Boot, or of that of its settings object, beyond what the schema judges:
//
//   BootOrder   has at least one option, and only options that the system has
//   BootNext    is an option that the system has
//   BootSourceOverrideTarget UefiBootNext is for one boot and conflicts with Continuous
//
// A system's options are the members of its BootOptions and what BootOrder has; where it has
// neither, every name is taken. ComputerSystem.SetDefaultBootOrder brings back the order that was
// captured.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddBootOptions(HandlerTable& handlers);

}  // namespace shoal::mockserver
