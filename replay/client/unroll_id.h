// SPDX-License-Identifier: Apache-2.0
// The id of an unroll as a value, for replay and learners. On the wire it is proto::UnrollId.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

namespace shoal::replay {

struct UnrollId {
  std::uint64_t environment_id = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t first_sequence = 0;

  friend auto operator<=>(const UnrollId&, const UnrollId&) = default;
  template <typename Hash>
  friend Hash AbslHashValue(Hash hash, const UnrollId& id) {
    return Hash::combine(std::move(hash), id.environment_id, id.incarnation, id.first_sequence);
  }
};

}  // namespace shoal::replay
