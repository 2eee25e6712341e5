// SPDX-License-Identifier: Apache-2.0
// What can be done on one service, as the policy's and as the environment's list.
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

// The policy's list of a catalog's candidates; keeps the catalog.
ServiceCatalog MakeServiceCatalog(std::shared_ptr<const redfish::Catalog> catalog,
                                  std::shared_ptr<const redfish::Schema> schema);

}  // namespace shoal::actor
