// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/resource_candidates.h"

#include "redfish/catalog/candidate_generator.h"

namespace shoal::actor {

ResourceCandidates::Pointer ResourceCandidates::Of(const ServiceCatalog& service,
                                                   const ServiceResponse& response,
                                                   const BodyText& text) {
  return of_.FindOrMake({service.catalog.get(), text.content.key.bytes}, [&]() -> Pointer {
    const auto resource = JsonOf(response);
    if (!redfish::IsOperational(*resource)) return nullptr;
    redfish::CandidateGenerator generator(service.catalog->outline(), *service.schema);
    generator.Add(text.uri, *resource);
    if (generator.candidates.size() > kMaximumCandidates) {
      generator.candidates.resize(kMaximumCandidates);
    }
    return std::make_shared<const std::vector<redfish::Candidate>>(std::move(generator.candidates));
  });
}

}  // namespace shoal::actor
