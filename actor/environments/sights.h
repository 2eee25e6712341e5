// SPDX-License-Identifier: Apache-2.0
// What the environments of one loop make once, for all of them, of what services answer.
//
// Not thread-safe.
#pragma once

#include "actor/environments/body_texts.h"
#include "actor/environments/resource_candidates.h"

namespace shoal::actor {

struct Sights {
  BodyTexts bodies = BodyTexts();
  ResourceCandidates candidates = ResourceCandidates();
};

}  // namespace shoal::actor
