// SPDX-License-Identifier: Apache-2.0
// PATCH of an EthernetInterface beyond what the schema judges: the addresses that it has follow its
// settings.
//
// Once a client has set DHCPv4 or IPv4StaticAddresses, IPv4Addresses lists the static addresses
// with the AddressOrigin Static while DHCP is off, and the captured addresses of other origins
// while it is on. An interface that lists no static addresses keeps IPv4Addresses as it is.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddEthernetInterface(HandlerTable& handlers);

}  // namespace shoal::mockserver
