// SPDX-License-Identifier: Apache-2.0
// The accounts of a variant (variant.h): a collection that grows by POST, or a fixed number of
// slots that PATCH fills and empties, as on Dell's iDRAC.
#pragma once

#include "redfish/capture/draws.h"
#include "redfish/capture/resource_tree.h"

namespace shoal::redfish {

// Draws whether the accounts become slots or, where they are slots, a collection without empty
// ones. New slots are 8 to 16, have numbers as ids, an empty UserName and are disabled. The present
// accounts keep their contents.
void ChangeAccounts(ResourceTree& tree, Draws& draws);

}  // namespace shoal::redfish
