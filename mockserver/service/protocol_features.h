// SPDX-License-Identifier: Apache-2.0
// What a service root says of the protocol's optional features. A captured root speaks of the host
// that it was captured from, while this service takes the queries of every GET itself. With
// WorldOptions::tells_features the root says so.
#pragma once

#include "mockserver/messages/message.h"

namespace shoal::redfish {
class Schema;
}

namespace shoal::mockserver {

// The levels that $expand may ask for.
inline constexpr int kMaximumLevels = 6;

// Returns `root` with a ProtocolFeaturesSupported that is true of this service. Only members that
// the root's version of the schema has are added, and a root without ProtocolFeaturesSupported
// stays as it is.
Json WithServedFeatures(const Json& root, const redfish::Schema& schema);

}  // namespace shoal::mockserver
