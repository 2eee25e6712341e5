// SPDX-License-Identifier: Apache-2.0
// The requests that can be sent to one service, as a catalog for the environment and as a list for
// the policy.
#pragma once

#include <memory>

#include "inference/client/row.h"
#include "redfish/catalog/catalog.h"
#include "redfish/schema/schema.h"

namespace shoal::actor {

struct ServiceCatalog {
  std::shared_ptr<const redfish::Catalog> catalog;
  std::shared_ptr<const inference::client::CandidateList> candidates;
  std::shared_ptr<const redfish::Schema> schema;
};

// Makes the policy's list of a catalog's candidates. The result keeps the catalog alive.
ServiceCatalog MakeServiceCatalog(std::shared_ptr<const redfish::Catalog> catalog,
                                  std::shared_ptr<const redfish::Schema> schema);

}  // namespace shoal::actor
