// SPDX-License-Identifier: Apache-2.0
#include "replay/selectors/selector_kind.h"

#include <array>
#include <string>

#include "platform/runtime/check.h"
#include "replay/selectors/fifo.h"
#include "replay/selectors/uniform.h"

namespace shoal::replay {
namespace {

constexpr std::array<std::string_view, 2> kNames = {"fifo", "uniform"};

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

std::unique_ptr<Selector> MakeSelector(SelectorKind kind, std::uint64_t seed) {
  switch (kind) {
    case SelectorKind::kFifo:
      return std::make_unique<Fifo>();
    case SelectorKind::kUniform:
      return std::make_unique<Uniform>(seed);
  }
  SHOAL_CHECK(false);
}

}  // namespace shoal::replay
