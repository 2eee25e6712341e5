// SPDX-License-Identifier: Apache-2.0
// What is derived from the answers of services and kept for the environments of one loop: canonical
// texts of bodies, and the candidates of resources. Environments that get the same answer share one
// copy of it. Not thread-safe: the loop's thread alone uses it.
#pragma once

#include "actor/environments/body_texts.h"
#include "actor/environments/resource_candidates.h"

namespace shoal::actor {

struct ResponseCache {
  BodyTexts bodies = BodyTexts();
  ResourceCandidates candidates = ResourceCandidates();
};

}  // namespace shoal::actor
