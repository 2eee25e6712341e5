// SPDX-License-Identifier: Apache-2.0
// The kinds of selectors, with their names in the cluster file. To add a selector, add a value
// here, and its name and case in selector_kind.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "platform/runtime/status.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

enum class SelectorKind : std::uint8_t {
  kFifo,
  kLifo,
  kUniform,
  kPrioritized,
  kMinHeap,
  kMaxHeap,
  kRecency
};

struct SelectorOptions {
  // alpha of kPrioritized, at least 0. Schaul et al. 2016 use 0.6.
  double priority_exponent = 0.6;
  // The seed of the kinds that choose at random.
  std::uint64_t seed = 0;
};

// Returns the names in the order of SelectorKind.
std::span<const std::string_view> SelectorNames();

// Returns INVALID_ARGUMENT, which lists the names, if `name` is not one of them.
absl::StatusOr<SelectorKind> SelectorKindFrom(std::string_view name);

// Returns whether selectors of this kind draw at random, by the items' weights.
bool DrawsAtRandom(SelectorKind kind);

// Returns an empty selector.
std::unique_ptr<Selector> MakeSelector(SelectorKind kind, const SelectorOptions& options);

}  // namespace shoal::replay
