// SPDX-License-Identifier: Apache-2.0
// One use of an unroll: replay counts how often it has given an item out, and a learner trains on
// each of these times at most once.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

#include "replay/client/unroll_id.h"

namespace shoal::learner {

struct UnrollUse {
  replay::UnrollId id;
  // 1 for the first time that replay gave the unroll out.
  std::uint32_t use = 1;

  friend auto operator<=>(const UnrollUse&, const UnrollUse&) = default;
  template <typename Hash>
  friend Hash AbslHashValue(Hash hash, const UnrollUse& one) {
    return Hash::combine(std::move(hash), one.id, one.use);
  }
};

}  // namespace shoal::learner
