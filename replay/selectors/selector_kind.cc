// SPDX-License-Identifier: Apache-2.0
#include "replay/selectors/selector_kind.h"

#include <array>
#include <string>

#include "platform/runtime/check.h"
#include "replay/selectors/insertion_order.h"
#include "replay/selectors/prioritized.h"
#include "replay/selectors/priority_order.h"
#include "replay/selectors/recency.h"
#include "replay/selectors/uniform.h"

namespace shoal::replay {
namespace {

constexpr std::array<std::string_view, 7> kNames = {
    "fifo", "lifo", "uniform", "prioritized", "min_heap", "max_heap", "recency"};

}  // namespace

std::span<const std::string_view> SelectorNames() { return kNames; }

absl::StatusOr<SelectorKind> SelectorKindFrom(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<SelectorKind>(i);
    known += (i > 0 ? ", " : "") + std::string(kNames[i]);
  }
  return runtime::InvalidArgument("there is no selector \"" + std::string(name) + "\"; there are " +
                                  known);
}

bool DrawsAtRandom(SelectorKind kind) {
  return kind == SelectorKind::kUniform || kind == SelectorKind::kPrioritized ||
         kind == SelectorKind::kRecency;
}

std::unique_ptr<Selector> MakeSelector(SelectorKind kind, const SelectorOptions& options) {
  switch (kind) {
    case SelectorKind::kFifo:
      return std::make_unique<InsertionOrder>(InsertionOrder::End::kOldest);
    case SelectorKind::kLifo:
      return std::make_unique<InsertionOrder>(InsertionOrder::End::kNewest);
    case SelectorKind::kUniform:
      return std::make_unique<Uniform>(options.seed);
    case SelectorKind::kPrioritized:
      return std::make_unique<Prioritized>(options.priority_exponent, options.seed);
    case SelectorKind::kMinHeap:
      return std::make_unique<PriorityOrder>(PriorityOrder::End::kLowest);
    case SelectorKind::kMaxHeap:
      return std::make_unique<PriorityOrder>(PriorityOrder::End::kHighest);
    case SelectorKind::kRecency:
      return std::make_unique<Recency>(options.seed);
  }
  SHOAL_CHECK(false);
}

}  // namespace shoal::replay
