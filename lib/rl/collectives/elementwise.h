// SPDX-License-Identifier: Apache-2.0
// What a collective call does with two arrays: into[i] = into[i] op part[i].
#pragma once

#include <cstddef>

namespace shoal::collectives {

struct Elementwise {
  // Of one element. Arrays hold whole elements and are aligned to them.
  std::size_t element_bytes = 1;
  // Null where elements are only copied. It is called with `state`.
  void (*combine)(void* state, std::byte* into, const std::byte* part, std::size_t bytes) = nullptr;
  void* state = nullptr;
};

extern const Elementwise kSumOfFloats;
extern const Elementwise kSumOfDoubles;
extern const Elementwise kMaxOfDoubles;
extern const Elementwise kMinOfDoubles;

}  // namespace shoal::collectives
