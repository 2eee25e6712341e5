// SPDX-License-Identifier: Apache-2.0
// What a variant (variant.h) calls things, and in which order it lists them.
#pragma once

#include "redfish/capture/draws.h"
#include "redfish/capture/resource_tree.h"

namespace shoal::redfish {

// Gives the members of collections ids in the style of one vendor or another, one style for each
// type of collection. Only members directly below their collection are renamed.
void ChangeSegments(ResourceTree& tree, Draws& draws);

// Gives systems, chassis, managers and their parts other Names and Descriptions. No two members of
// a collection get the same Name. Systems and chassis may get another manufacturer and model.
void ChangeNames(ResourceTree& tree, Draws& draws);

// Reorders the members of collections, but neither systems nor managers: the first of them is the
// one that goals mean (landmarks.h).
void ReorderMembers(ResourceTree& tree, Draws& draws);

// Reorders and shortens lists of allowable values, in "@Redfish.AllowableValues" and in resources
// of type ActionInfo. A list keeps the property's present value and "None", and at least two
// thirds of its values.
void ChangeAllowableValues(ResourceTree& tree, Draws& draws);

}  // namespace shoal::redfish
