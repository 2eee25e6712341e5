// SPDX-License-Identifier: Apache-2.0
// The sequences of the demonstrations, drawn by priority beside those of replay (Paine et al. 2019,
// "Making efficient use of demonstrations to solve hard exploration problems", R2D3).
//
// Each unroll of an update is a demonstration with a fixed probability, the demonstration ratio,
// whatever the others are. Which demonstration it is follows priorities of this table's own, which
// each update renews as it does those of replay. A sequence that has not been trained on has the
// greatest priority that any was given.
//
// Episodes are cut into sequences of `length` rows that never leave their episode. Each begins
// `burn_in` rows before the end of the one before it, and these rows carry no weight in it. Experts
// have no recurrent state, so every sequence begins with zeros: at the start of an episode that is
// the true state, and elsewhere the rows of burn-in make one from the parameters of today.
//
// Each rank has a table and draws of its own. What a table draws is a function of the seed, the
// rank, the update's number and the priorities; these start anew with the process. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learner/cloning/demonstration_set.h"
#include "learner/unrolls/unroll_decoder.h"
#include "platform/runtime/status.h"
#include "platform/runtime/weight_tree.h"
#include "rl/model/policy_spec.h"
#include "rl/parameters/version.h"

namespace shoal::learner {

struct DemonstrationTableOptions {
  // The probability that an unroll is a demonstration, from 0 to 1.
  double ratio = 0;
  // The rows of a sequence; 0 keeps episodes whole.
  std::int64_t length = 0;
  std::int64_t burn_in = 0;
  // The exponent of priorities; 0 draws uniformly.
  double priority_exponent = 0.9;
  std::uint64_t seed = 1;
  std::int64_t rank = 0;
};

class DemonstrationTable {
 public:
  // Copies what it needs. INVALID_ARGUMENT if no rows would be left beside the burn-in, and
  // FAILED_PRECONDITION where episodes of a policy with past requests would have to be cut: what
  // was requested before a cut is not recorded.
  static absl::StatusOr<std::unique_ptr<DemonstrationTable>> Create(
      const DemonstrationTableOptions& options, const model::PolicySpec& spec,
      const DemonstrationSet& demonstrations);

  // Returns how many of this rank's `share` unrolls of an update are demonstrations.
  std::size_t CountOf(std::int64_t update, std::size_t share) const;

  // Draws `count` sequences with replacement, each in time logarithmic in their number. Their rows
  // count as rows of the version `current`, because an expert is not stale.
  std::vector<DecodedUnroll> Draw(std::int64_t update, std::size_t count,
                                  const parameters::Version& current);

  // Takes the priorities of what was drawn last, in that order. REQUIRES: as many as were drawn.
  void UpdatePriorities(std::span<const float> priorities);

  // The number of sequences.
  std::size_t size() const { return sequences_.size(); }

 private:
  explicit DemonstrationTable(const DemonstrationTableOptions& options) : options_(options) {}
  double WeightOf(double priority) const;

  const DemonstrationTableOptions options_;
  std::vector<DecodedUnroll> sequences_;
  // The weights of the sequences that were trained on, p^alpha with priority p; 0 for the others.
  runtime::WeightTree trained_;
  // 1 for each sequence that was not trained on, which weighs as much as the greatest priority; 0
  // for the others.
  runtime::WeightTree untrained_;
  double greatest_ = 1;
  // The places of what was drawn last.
  std::vector<std::size_t> drawn_;
};

// Returns the sequences of one episode, in order. REQUIRES: 0 <= burn_in < length, or length is 0.
std::vector<DecodedUnroll> CutIntoSequences(const model::PolicySpec& spec,
                                            const DecodedUnroll& episode, std::int64_t length,
                                            std::int64_t burn_in);

}  // namespace shoal::learner
