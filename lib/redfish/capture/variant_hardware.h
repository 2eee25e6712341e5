// SPDX-License-Identifier: Apache-2.0
// The parts that a variant (variant.h) has and lacks: optional properties and whole services, a
// second chassis or system, and the boot order.
#pragma once

#include "redfish/capture/draws.h"
#include "redfish/capture/landmarks.h"
#include "redfish/capture/resource_tree.h"

namespace shoal::redfish {

// Leaves out properties and links that the schema does not require, and the resources that only
// such links reached. `draws` decides for each type of resource and property.
void RemoveOptionalParts(ResourceTree& tree, Draws& draws);

// Draws whether to copy the main chassis and whether to copy the system. The copy of a chassis is
// contained in the original and holds no system; the copy of a system stands in the original's
// chassis, has the same manager and is never the first of the collection. Large subtrees are copied
// without what is below their top.
void AddHardware(ResourceTree& tree, const Landmarks& landmarks, Draws& draws);

// Renames and reorders the entries of the system's boot order. A system without one may get one,
// with or without resources for the options.
void ChangeBootOrder(ResourceTree& tree, const Landmarks& landmarks, Draws& draws);

}  // namespace shoal::redfish
