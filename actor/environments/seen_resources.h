// SPDX-License-Identifier: Apache-2.0
// What an episode has seen of a service beyond its catalog: resources that came, and that went.
//
// A collection that answers shows its members, any other answer the resource that it is of. One
// that the catalog was not made of gets a GET at once, and all its candidates when its own body was
// seen. What was deleted, or is answered 404, loses its candidates with all below it, the catalog's
// own too, until it is seen again.
//
// The list is the catalog's own while there is nothing to add or take, else an overlay on it:
// appended candidates are in the order of their URIs. So the same answers give the same key,
// whoever saw them and in whichever order, and tables are shared. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actor/environments/body_texts.h"
#include "actor/environments/redfish_service.h"
#include "actor/environments/resource_candidates.h"
#include "actor/environments/service_catalog.h"
#include "inference/client/row.h"
#include "platform/content/content_key.h"
#include "redfish/catalog/candidate.h"
#include "redfish/goals/plan.h"

namespace shoal::actor {

class SeenResources {
 public:
  // Resources beyond the catalog at most; more are not offered.
  static constexpr std::size_t kMaximumResources = 64;

  // `made` outlives this.
  explicit SeenResources(ResourceCandidates& made) : made_(&made) {}

  // Forgets what was seen. `service` outlives the episode.
  void Begin(const ServiceCatalog& service);

  // `request` was answered with `response`, whose body says what `text` does.
  void Learn(const redfish::Candidate& request, const ServiceResponse& response,
             const BodyText& text);

  const std::shared_ptr<const inference::client::CandidateList>& list() const { return list_; }
  // Until the next Learn or Begin. REQUIRES: action < list()->size().
  const redfish::Candidate& candidate(std::size_t action) const;
  // The first legal action that sends `request`; -1 when there is none (redfish/goals/plan.h).
  std::int64_t Find(const redfish::PlanRequest& request, const redfish::SlotValues& values) const;

 private:
  using Candidates = ResourceCandidates::Pointer;
  struct Resource {
    Candidates candidates;
    // Of the body that they were made of; zero before it was seen.
    content::ContentKey body = {};
  };

  void Lose(const std::string& uri);
  void SeeMember(const std::string& collection, const std::string& uri);
  void SeeResource(const ServiceResponse& response, const BodyText& text);
  // Whether there is room for it, or it is known.
  bool HasRoom(const std::string& uri) const;
  void MakeList();

  ResourceCandidates* made_;
  const ServiceCatalog* service_ = nullptr;
  std::map<std::string, Resource> resources_;
  std::set<std::string> lost_;
  bool changed_ = false;
  std::shared_ptr<const inference::client::CandidateList> list_;
  // In the order of the list, after the catalog's.
  std::vector<const redfish::Candidate*> appended_;
};

}  // namespace shoal::actor
