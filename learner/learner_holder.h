// SPDX-License-Identifier: Apache-2.0
// Rank 0 as the holder of the parameters where gradients are asynchronous: it makes an update of
// each gradient that is fresh and of unrolls that were not used before, and does with it all that a
// learner does with an update.
//
// It runs on the hub's thread, which is then the only one to use the learner's trainer, ledger,
// breaker, publication and reports. The worker of rank 0 has its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learner/asynchronous/gradient_note.h"
#include "learner/learner.h"
#include "rl/collectives/gradient_hub.h"

namespace shoal::learner {

class Learner::Holder final : public collectives::ParameterHolder {
 public:
  explicit Holder(Learner& learner);

  collectives::ParameterNumber number() const override;
  absl::Status Hear(std::int64_t rank, const collectives::Contribution& contribution) override;
  absl::StatusOr<collectives::GradientFate> Apply(
      std::int64_t rank, const collectives::Contribution& contribution) override;
  absl::Status Drop(std::int64_t rank, const collectives::Contribution& contribution) override;
  absl::Status Answer(std::int64_t rank, const collectives::Contribution& contribution,
                      collectives::SharedParameters& answer) override;

 private:
  const GradientNote& NoteOf(std::int64_t rank) const {
    return notes_[static_cast<std::size_t>(rank)];
  }
  // Adds the steps of environments that the rank's gradient stands for.
  void CountSteps(const GradientNote& note);
  bool WasUsed(const GradientNote& note) const;
  // The unrolls of all ranks.
  RoundCounts Counts() const;
  void Count(const std::string& fate);

  Learner& learner_;
  Parts& parts_;
  // The newest of each rank.
  std::vector<GradientNote> notes_;
  std::int64_t dropped_ = 0;
};

}  // namespace shoal::learner
