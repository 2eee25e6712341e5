// SPDX-License-Identifier: Apache-2.0
// The answer to a request that reads a collection with its members ($expand), taken apart into the
// answers to the requests that would have read the collection and then each member by itself.
#pragma once

#include <cstddef>
#include <vector>

#include "actor/environments/body_texts.h"
#include "actor/environments/redfish_service.h"
#include "redfish/catalog/candidate.h"

namespace shoal::actor {

// A resource as a GET of it alone would have shown it.
struct ReadAnswer {
  redfish::Candidate request;
  // Without a token, a location and progress. It has an ETag where the body has one.
  ServiceResponse response;
  BodyTexts::Pointer text;
};

inline constexpr std::size_t kMaximumExpandedMembers = 64;

// Returns the answers in the order of the requests: first the collection, whose members are links,
// then those of its members that the answer holds, at most kMaximumExpandedMembers; members beyond
// stay links. Returns none for a request that does not expand and for an answer that is no success
// or no collection. A member that the service left as a link is not among them.
std::vector<ReadAnswer> TakeApart(const redfish::Candidate& request,
                                  const ServiceResponse& response, BodyTexts& texts);

}  // namespace shoal::actor
