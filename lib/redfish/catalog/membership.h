// SPDX-License-Identifier: Apache-2.0
// Which members of a recorded service come and go, where the standard's schema leaves it open.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "redfish/capture/capture.h"
#include "redfish/schema/schema.h"

namespace shoal::redfish {

// The schema lets systems, chassis and the like come and go, because they may be composed or
// virtual; recorded ones are hardware. True for their collections too.
bool IsHardware(std::string_view odata_type);

// Returns the account slots of a collection that has empty accounts. PATCH fills and empties a
// slot, and none is made or deleted. Every other collection has no slots.
std::vector<std::string> AccountSlots(const Capture& capture, const nlohmann::json& collection);

// The type of a collection's members: as one of them has it, else as another resource of the
// service has it, else as the schema names it; empty when nothing tells.
std::string MemberType(const Capture& capture, const Schema& schema,
                       const nlohmann::json& collection);

}  // namespace shoal::redfish
