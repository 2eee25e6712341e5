// SPDX-License-Identifier: Apache-2.0
// A cache of the candidates of resources that the catalog lacks.
//
// Episodes create the same accounts, sessions and volumes again and again, and making their
// candidates with texts and keys costs more than the request that shows them. Two bodies with the
// same canonical text share the list of the one that was seen first. Not thread-safe: each loop has
// its own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tuple>
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

  // The most candidates of one resource. Any more are not offered.
  static constexpr std::size_t kMaximumCandidates = 256;

  explicit ResourceCandidates(std::size_t capacity_bytes) : of_(capacity_bytes) {}

  // Returns the candidates of the resource in `response`, whose body `text` describes; their texts
  // tell `names` by their numbers. Returns null for a resource that nobody operates, such as a
  // schema or a log entry. `service` outlives this.
  Pointer Of(const ServiceCatalog& service, const ServiceResponse& response, const BodyText& text,
             std::span<const std::string> names);

 private:
  // The catalog, the bytes of the body's key, and the URI as texts tell it.
  using Key =
      std::tuple<const redfish::Catalog*, decltype(content::ContentKey::bytes), std::string>;

  GenerationCache<Key, Pointer> of_;
};

}  // namespace shoal::actor
