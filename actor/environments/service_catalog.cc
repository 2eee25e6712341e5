// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/service_catalog.h"

#include <utility>
#include <vector>

namespace shoal::actor {

ServiceCatalog MakeServiceCatalog(std::shared_ptr<const redfish::Catalog> catalog,
                                  std::shared_ptr<const redfish::Schema> schema) {
  std::vector<inference::client::ContentReference> candidates;
  candidates.reserve(catalog->size());
  for (const redfish::Candidate& candidate : catalog->candidates()) {
    candidates.push_back({.key = candidate.key,
                          .text = std::shared_ptr<const std::string>(catalog, &candidate.text)});
  }
  auto list = std::make_shared<const inference::client::CandidateList>(std::move(candidates));
  return {
      .catalog = std::move(catalog), .candidates = std::move(list), .schema = std::move(schema)};
}

}  // namespace shoal::actor
