// SPDX-License-Identifier: Apache-2.0
// The options of a table state what it holds, how it chooses items, and how it waits.
//
// Table::Create says which values go together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "platform/runtime/clock.h"
#include "replay/rate_limiter.h"
#include "replay/selectors/selector_kind.h"
#include "replay/signature.h"

namespace shoal::replay {

// With it the sum of 10^12 weights of the largest priorities is still finite.
inline constexpr int kMaxPriorityExponent = 4;

// What a process that dies may cost a table of a shard with a journal.
enum class Durability : std::uint8_t {
  // Everything.
  kNone,
  // What happened in the last `batch_window`.
  kBatch,
  // Nothing that was acknowledged.
  kAlways,
};

struct TableOptions {
  std::string name = "unrolls";
  SelectorKind sampler = SelectorKind::kFifo;
  // Without a remover a full table pushes back.
  std::optional<SelectorKind> remover = std::nullopt;
  // alpha of selectors that weigh priorities.
  double priority_exponent = 0.6;
  // The most items and bytes that the table holds.
  std::size_t max_size = 1024;
  std::size_t max_bytes = std::size_t{1} << 30;
  // The most bytes of items that the table holds in memory. 0 means all. What an item takes besides
  // its payload always stays in memory and counts here, too. Such a table needs a journal.
  std::size_t memory_bytes = 0;
  // 0 means no bound.
  std::uint32_t max_times_sampled = 1;
  // Items of an earlier epoch than the current version, or more than this many steps older, are
  // evicted. 0 evicts none. A sampling stream may set a lower limit.
  std::uint32_t max_staleness = 0;
  // Items that have been in for longer are evicted. 0 evicts none.
  runtime::Duration max_age{};
  RateLimiterOptions limiter = {};
  // How many ids are remembered to recognise repeats, besides those of the stored items.
  std::size_t id_window = 65536;
  // Without one the table takes the first signature that is stated for its items.
  std::optional<Signature> signature = std::nullopt;
  // The seed of selectors that choose at random.
  std::uint64_t seed = 0;
  Durability durability = Durability::kNone;
  runtime::Duration batch_window = std::chrono::milliseconds(100);
};

}  // namespace shoal::replay
