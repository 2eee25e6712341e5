// SPDX-License-Identifier: Apache-2.0
// Deterministic mode: which train rows are evaluated together, and when.
//
// A round is over when every environment has delivered one unroll. Within a round a step is taken
// when each environment that still owes its unroll has a row that asks for an action; all rows of
// these environments then go together, sorted by (environment, sequence). An environment that has
// delivered waits for the next round, which begins with a version newer than the one that acted
// last. So the batches are a function of the environments alone. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "inference/core/row_block.h"
#include "rl/parameters/version.h"

namespace shoal::inference {

class LockstepGate {
 public:
  // `environments`: how many there are, at least 1.
  explicit LockstepGate(std::size_t environments) : environments_(environments) {}

  void Add(Row row);
  // The rows of one step, or none when it is not complete. `current`: the version that would act.
  std::vector<Row> TakeStep(const parameters::Version& current);
  void Delivered(std::uint64_t environment) { delivered_.insert(environment); }

  // Rows held.
  std::size_t size() const;
  void Clear() { held_.clear(); }

 private:
  // By sequence.
  using Rows = std::map<std::uint64_t, Row>;

  bool RoundOver() const { return delivered_.size() >= environments_; }
  static bool Asks(const Rows& rows);

  const std::size_t environments_;
  // Every environment seen so far.
  std::map<std::uint64_t, Rows> held_;
  std::set<std::uint64_t> delivered_;
  parameters::Version acted_;
};

}  // namespace shoal::inference
