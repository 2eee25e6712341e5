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

// The schema lets systems, chassis and the like come and go for what is composed or virtual;
// recorded ones are hardware. Of the collections too.
bool IsHardware(std::string_view odata_type);

// The accounts of a collection that has empty ones: slots, which are filled and emptied by PATCH
// and never made or deleted. None for every other collection.
std::vector<std::string> AccountSlots(const Capture& capture, const nlohmann::json& collection);

// The type of a collection's members: as one of them has it, else as another resource of the
// service has it, else as the schema names it; empty when nothing tells.
std::string MemberType(const Capture& capture, const Schema& schema,
                       const nlohmann::json& collection);

}  // namespace shoal::redfish
