// SPDX-License-Identifier: Apache-2.0
// Decides which members of a recorded service can be made and deleted, where the standard's schema
// leaves it open.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "redfish/capture/capture.h"
#include "redfish/schema/schema.h"

namespace shoal::redfish {

// Returns true for systems, chassis and the like, and for their collections. The schema lets them
// be made and deleted, because they may be composed or virtual; recorded ones are hardware.
bool IsHardware(std::string_view odata_type);

// Returns the account slots of a collection that has empty accounts. PATCH fills and empties a
// slot, and none is made or deleted. Every other collection has no slots.
std::vector<std::string> AccountSlots(const Capture& capture, const nlohmann::json& collection);

// Returns the type of a collection's members: that of one of its members, or else of another such
// resource of the service, or else the one that the schema names; empty when none of these exists.
std::string MemberType(const Capture& capture, const Schema& schema,
                       const nlohmann::json& collection);

}  // namespace shoal::redfish
