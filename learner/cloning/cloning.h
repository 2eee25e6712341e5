// SPDX-License-Identifier: Apache-2.0
// How a learner uses demonstrations: a phase of cloning before anything is published, and a share
// of every update after it that fades away.
//
// The draws of the phase and of the updates are numbered on from one another by the trainer's own
// counters, so a learner that resumed goes on where it was. Used from one thread, by all ranks in
// step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "learner/cloning/demonstration_set.h"
#include "learner/learner_options.h"
#include "platform/runtime/status.h"
#include "rl/algorithms/policy_trainer.h"

namespace shoal::learner {

class Cloning {
 public:
  using OnCloned = std::function<absl::Status(const algorithms::CloningReport&)>;

  // Reads learner.demonstrations; null when that is empty. INVALID_ARGUMENT when other knobs ask
  // for demonstrations all the same; otherwise errors as of DemonstrationSet::Load.
  static absl::StatusOr<std::unique_ptr<Cloning>> Create(const LearnerOptions& options,
                                                         std::uint64_t seed,
                                                         const model::PolicySpec& spec,
                                                         ContentTable& contents);

  // Clones until learner.demonstration_updates are done, unless an update was done already.
  // `on_cloned` after each; its error ends the phase.
  absl::Status Run(algorithms::PolicyTrainer& trainer, std::int64_t rank, std::int64_t ranks,
                   const OnCloned& on_cloned) const;

  // One update of the trainer, with demonstrations while their coefficient is above 0.
  absl::StatusOr<algorithms::UpdateReport> Update(algorithms::PolicyTrainer& trainer,
                                                  const algorithms::UnrollBatch& batch,
                                                  std::int64_t rank, std::int64_t ranks) const;

  // FAILED_PRECONDITION when the unrolls are of another encoder than the demonstrations.
  absl::Status CheckEncoder(const std::vector<DecodedUnroll>& unrolls) const;

  const DemonstrationSet& demonstrations() const { return *demonstrations_; }

 private:
  Cloning(const LearnerOptions& options, std::unique_ptr<DemonstrationSet> demonstrations);

  const LearnerOptions options_;
  const std::unique_ptr<DemonstrationSet> demonstrations_;
};

}  // namespace shoal::learner
