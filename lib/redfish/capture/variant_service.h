// SPDX-License-Identifier: Apache-2.0
// What the service of a variant (variant.h) offers as a whole: queries, and collections of its
// vendor's own.
#pragma once

#include "redfish/capture/draws.h"
#include "redfish/capture/resource_tree.h"

namespace shoal::redfish {

// Draws whether the service root says that collections can be read with their members by one
// request ($expand, ProtocolFeaturesSupported.ExpandQuery). A root whose version has no
// ExpandQuery, or that speaks of no features, stays as it is.
void ChangeQueries(ResourceTree& tree, Draws& draws);

// Draws for the accounts and for the event subscriptions whether the vendor has another collection
// of the same type in its Oem part of the service, as an iLO has for applications. It is empty, and
// what a client makes there is not what the standard's collection holds.
void AddVendorCollections(ResourceTree& tree, Draws& draws);

}  // namespace shoal::redfish
