// SPDX-License-Identifier: Apache-2.0
// Every selector that a table can have, by the name that the cluster file gives it. A selector that
// is added is one more value, name and case here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "platform/runtime/status.h"
#include "replay/selectors/selector.h"

namespace shoal::replay {

enum class SelectorKind : std::uint8_t { kFifo, kUniform };

// In the order of SelectorKind.
std::span<const std::string_view> SelectorNames();

// INVALID_ARGUMENT that lists the names when `name` is none of them.
absl::StatusOr<SelectorKind> SelectorKindFrom(std::string_view name);

// An empty selector.
std::unique_ptr<Selector> MakeSelector(SelectorKind kind, std::uint64_t seed);

}  // namespace shoal::replay
