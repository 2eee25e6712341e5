// SPDX-License-Identifier: Apache-2.0
// The kinds of selectors that a table can have, by the names that the cluster file gives them.
// Adding a selector means one more value here, and its name and case in selector_kind.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "platform/runtime/status.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

enum class SelectorKind : std::uint8_t { kFifo, kUniform };

// Returns the names in the order of SelectorKind.
std::span<const std::string_view> SelectorNames();

// INVALID_ARGUMENT that lists the names when `name` is none of them.
absl::StatusOr<SelectorKind> SelectorKindFrom(std::string_view name);

// Returns an empty selector. `seed` is for one that draws at random.
std::unique_ptr<Selector> MakeSelector(SelectorKind kind, std::uint64_t seed);

}  // namespace shoal::replay
