// SPDX-License-Identifier: Apache-2.0
// Candidates of resources that a catalog was not made of, each resource's made once.
//
// Episodes make the same accounts, sessions and volumes again and again, and their candidates,
// with texts and keys, cost more than the request that shows them. Two bodies with one canonical
// text have one list: that of the first that was seen. Not thread-safe: one a loop.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "actor/environments/body_texts.h"
#include "actor/environments/generation_cache.h"
#include "actor/environments/redfish_service.h"
#include "actor/environments/service_catalog.h"
#include "platform/content/content_key.h"
#include "redfish/catalog/candidate.h"

namespace shoal::actor {

class ResourceCandidates {
 public:
  using Pointer = std::shared_ptr<const std::vector<redfish::Candidate>>;

  // Of one resource at most; more are not offered.
  static constexpr std::size_t kMaximumCandidates = 256;

  explicit ResourceCandidates(std::size_t capacity_bytes) : of_(capacity_bytes) {}

  // Of the resource that `response` shows, whose body says what `text` does. Null when it is none
  // that is operated: a schema, a log entry. `service` outlives this.
  Pointer Of(const ServiceCatalog& service, const ServiceResponse& response, const BodyText& text);

 private:
  // The catalog, and the bytes of the body's key.
  using Key = std::pair<const redfish::Catalog*, decltype(content::ContentKey::bytes)>;

  GenerationCache<Key, Pointer> of_;
};

}  // namespace shoal::actor
