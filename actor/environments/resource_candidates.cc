// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/resource_candidates.h"

#include "redfish/catalog/candidate_generator.h"

namespace shoal::actor {
namespace {

// A candidate's body as a value takes about as much again as the text that has it, and its other
// members do, too.
std::size_t CandidateBytes(const ResourceCandidates::Pointer& candidates) {
  constexpr std::size_t kPlace = 200;
  if (candidates == nullptr) return kPlace;
  std::size_t bytes = kPlace;
  for (const redfish::Candidate& candidate : *candidates) {
    bytes += sizeof(candidate) + 3 * candidate.text.size() +
             candidate.slots.size() * (sizeof(redfish::Slot) + 32);
  }
  return bytes;
}

}  // namespace

ResourceCandidates::Pointer ResourceCandidates::Of(const ServiceCatalog& service,
                                                   const ServiceResponse& response,
                                                   const BodyText& text,
                                                   std::span<const std::string> names) {
  const auto make = [&]() -> Pointer {
    const auto resource = JsonOf(response);
    if (!redfish::IsOperational(*resource)) return nullptr;
    redfish::CandidateGenerator generator(service.catalog->outline(), *service.schema, names);
    generator.Add(text.uri, *resource);
    if (generator.candidates.size() > kMaximumCandidates) {
      generator.candidates.resize(kMaximumCandidates);
    }
    return std::make_shared<const std::vector<redfish::Candidate>>(std::move(generator.candidates));
  };
  return of_.FindOrMake(
      {service.catalog.get(), text.content.key.bytes, redfish::UriWithoutNames(text.uri, names)},
      make, CandidateBytes);
}

}  // namespace shoal::actor
