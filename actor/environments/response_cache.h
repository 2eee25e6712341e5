// SPDX-License-Identifier: Apache-2.0
// A cache of what the environments of one loop derive from the answers of services: canonical texts
// of bodies and candidates of resources. Environments that get the same answer share one copy. Not
// thread-safe: only the loop's thread uses it.
#pragma once

#include "actor/environments/body_texts.h"
#include "actor/environments/resource_candidates.h"

namespace shoal::actor {

struct ResponseCache {
  BodyTexts bodies = BodyTexts();
  ResourceCandidates candidates = ResourceCandidates();
};

}  // namespace shoal::actor
