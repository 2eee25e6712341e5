// SPDX-License-Identifier: Apache-2.0
// The lockstep gate decides in deterministic mode which training rows are evaluated together and
// when.
//
// A round is over when every environment has delivered its share of unrolls, which may be larger in
// the first round than in the others, so that a table is filled. Within a round a step
// is taken once each environment that still owes an unroll has a row that asks for an action. All
// rows of these environments are then evaluated together, sorted by (environment, sequence). An
// environment that has delivered its share waits for the next round, which begins with a version
// newer than the last one that acted. The batches are therefore a function of the environments
// alone. A learner that starts again begins a new epoch: the round that it interrupted starts
// afresh. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "inference/core/row_block.h"
#include "rl/parameters/version.h"

namespace shoal::inference {

class LockstepGate {
 public:
  // `environments` is the number of training environments, `unrolls` the share of each in a round,
  // and `first_unrolls` that in the first one if it is more; the first two are at least 1.
  explicit LockstepGate(std::size_t environments, std::size_t unrolls = 1,
                        std::size_t first_unrolls = 1)
      : environments_(environments),
        unrolls_(unrolls),
        first_unrolls_(std::max(unrolls, first_unrolls)) {}

  void Add(Row row);
  // Returns the rows of one step, or none while it is incomplete. `current` is the version that
  // would act.
  std::vector<Row> TakeStep(const parameters::Version& current);
  // Counts an unroll of the environment.
  void Delivered(std::uint64_t environment) {
    if (++delivered_[environment] == share_) ++finished_;
  }
  // Whether every environment has delivered its share since the round began.
  bool RoundOver() const { return finished_ >= environments_; }
  // Begins the first round again, which any version may act in, and returns the rows held.
  std::vector<Row> StartAfresh();

  // The number of rows held.
  std::size_t size() const;
  void Clear() { held_.clear(); }

 private:
  // The rows of an environment by sequence number.
  using Rows = std::map<std::uint64_t, Row>;

  static bool Asks(const Rows& rows);
  bool HasFinished(std::uint64_t environment) const;
  void BeginRound(std::size_t share);

  const std::size_t environments_;
  const std::size_t unrolls_;
  const std::size_t first_unrolls_;
  // That of the round that is played.
  std::size_t share_ = first_unrolls_;
  // Has an entry for every environment seen so far.
  std::map<std::uint64_t, Rows> held_;
  // The unrolls of this round, and the number of environments whose share is complete.
  std::map<std::uint64_t, std::size_t> delivered_;
  std::size_t finished_ = 0;
  parameters::Version acted_;
};

}  // namespace shoal::inference
