// SPDX-License-Identifier: Apache-2.0
// The power machine: ComputerSystem.Reset and Chassis.Reset.
//
// A system is Off, PoweringOn, On or PoweringOff. The transients last as long as the instance's
// options say. Turning on and restarting are boots: the history records each with its target, and
// then a boot override of Once reverts. Whatever turns a system on or off sets its LastResetTime. A
// chassis acts on the systems that it links, and shows their state.
//
//   On, ForceOn            boot a system that is Off; do nothing when it is On
//   GracefulShutdown       turns off a system that is On; refused when Off
//   ForceOff               turns off; does nothing when Off
//   GracefulRestart        boots a system that is On; refused when Off
//   ForceRestart, PowerCycle, FullPowerCycle
//                          boot a system that is On, and one that is Off unless the service's
//                          vendor is known to refuse that (Dell, HPE)
//   PushPowerButton        switches to the other state
//   Nmi                    is recorded; refused when Off
// In a transient only ForceOff is accepted. A refused reset is 409 and leaves no record.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddPower(HandlerTable& handlers);

}  // namespace shoal::mockserver
