// SPDX-License-Identifier: Apache-2.0
// The power machine: ComputerSystem.Reset and Chassis.Reset.
//
// A system is Off, PoweringOn, On or PoweringOff; the transients last as long as the instance's
// options say. Coming on, and restarting, is a boot: recorded in the history with its target, after
// which an override of Once reverts. Whatever turns a system on or off moves its LastResetTime. A
// chassis acts on the systems that it links, and shows their state.
//
//   On, ForceOn            boots what is Off; nothing to do for what is On
//   GracefulShutdown       turns off what is On; refused when Off
//   ForceOff               turns off; nothing to do for what is Off
//   GracefulRestart        boots what is On; refused when Off
//   ForceRestart, PowerCycle, FullPowerCycle
//                          boots what is On, and what is Off unless the service's vendor is known
//                          to refuse that (Dell, HPE)
//   PushPowerButton        the other state
//   Nmi                    recorded; refused when Off
// In a transient only ForceOff is accepted. Refused: 409, no record.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddPower(HandlerTable& handlers);

}  // namespace shoal::mockserver
