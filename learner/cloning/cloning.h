// SPDX-License-Identifier: Apache-2.0
// Behaviour cloning from demonstrations: a phase before the first publication, and then a share of
// every update that decreases to nothing.
//
// Batches are numbered by the trainer's own counters, through the phase and the updates, so that a
// resumed learner continues where it was. Used from one thread, by all ranks in step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "learner/cloning/cloning_options.h"
#include "learner/cloning/demonstration_set.h"
#include "platform/runtime/status.h"
#include "rl/algorithms/policy_trainer.h"

namespace shoal::learner {

class Cloning {
 public:
  using OnCloned = std::function<absl::Status(const algorithms::CloningReport&)>;

  // Reads learner.demonstrations and returns null if it is empty. Other errors are those of
  // DemonstrationSet::Load.
  static absl::StatusOr<std::unique_ptr<Cloning>> Create(const CloningOptions& options,
                                                         std::uint64_t seed,
                                                         const model::PolicySpec& spec,
                                                         ContentTable& contents);

  // Clones until learner.demonstration_updates are done; does nothing after the first update. Calls
  // `on_cloned` after each cloning step; its error ends the phase.
  absl::Status Run(algorithms::PolicyTrainer& trainer, std::int64_t rank, std::int64_t ranks,
                   const OnCloned& on_cloned) const;

  // Does one update of the trainer, with demonstrations while their coefficient is above 0.
  absl::StatusOr<algorithms::UpdateReport> Update(algorithms::PolicyTrainer& trainer,
                                                  algorithms::UnrollBatch batch, std::int64_t rank,
                                                  std::int64_t ranks) const;

  // Returns FAILED_PRECONDITION if the unrolls have another encoder version than the
  // demonstrations. Where these have no texts, any fits.
  absl::Status CheckEncoder(const std::vector<DecodedUnroll>& unrolls) const;

  const DemonstrationSet& demonstrations() const { return *demonstrations_; }

 private:
  Cloning(const CloningOptions& options, std::unique_ptr<DemonstrationSet> demonstrations);

  const CloningOptions options_;
  const std::unique_ptr<DemonstrationSet> demonstrations_;
};

}  // namespace shoal::learner
