// SPDX-License-Identifier: Apache-2.0
// A cache of what the environments of one loop derive from the answers of services: canonical texts
// of bodies, candidates of resources, what bodies say about requests and to their slots, and the
// parts of requests.
// Environments that get the same answer share one copy. Not thread-safe: only the loop's thread
// uses it.
#pragma once

#include <cstddef>

#include "actor/environments/body_texts.h"
#include "actor/environments/request_draft.h"
#include "actor/environments/resource_candidates.h"
#include "actor/environments/resource_facts.h"
#include "actor/environments/shown_values.h"

namespace shoal::actor {

struct ResponseCache {
  static constexpr std::size_t kDefaultBytes = std::size_t{256} << 20;

  // Bodies may take half of `capacity_bytes`, candidates a quarter, part lists an eighth, facts and
  // values the rest.
  explicit ResponseCache(std::size_t capacity_bytes = kDefaultBytes)
      : bodies(capacity_bytes / 2),
        candidates(capacity_bytes / 4),
        facts(capacity_bytes / 16),
        values(capacity_bytes / 16),
        part_lists(capacity_bytes / 8) {}

  BodyTexts bodies;
  ResourceCandidates candidates;
  ResourceFactsCache facts;
  ShownValuesCache values;
  PartLists part_lists;
};

}  // namespace shoal::actor
