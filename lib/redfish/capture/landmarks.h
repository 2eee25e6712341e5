// SPDX-License-Identifier: Apache-2.0
// The main resources of a server in a capture. They are found by links and never by vendor.
#pragma once

#include <string>

#include "redfish/capture/capture.h"

namespace shoal::redfish {

// Canonical URIs; empty where the service has no such resource.
struct Landmarks {
  std::string system;            // first member of Systems
  std::string chassis;           // first of the system's Links.Chassis
  std::string manager;           // first of the system's Links.ManagedBy, else of Managers
  std::string network_protocol;  // the manager's NetworkProtocol
};

Landmarks FindLandmarks(const Capture& capture);

}  // namespace shoal::redfish
