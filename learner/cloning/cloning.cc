// SPDX-License-Identifier: Apache-2.0
#include "learner/cloning/cloning.h"

#include <utility>

#include "platform/runtime/random.h"
#include "rl/training/schedule.h"

namespace shoal::learner {

Cloning::Cloning(const CloningOptions& options, std::unique_ptr<DemonstrationSet> demonstrations)
    : options_(options), demonstrations_(std::move(demonstrations)) {}

absl::StatusOr<std::unique_ptr<Cloning>> Cloning::Create(const CloningOptions& options,
                                                         std::uint64_t seed,
                                                         const model::PolicySpec& spec,
                                                         ContentTable& contents) {
  if (options.demonstrations.empty()) return std::unique_ptr<Cloning>();
  SHOAL_ASSIGN_OR_RETURN(
      auto demonstrations,
      DemonstrationSet::Load({.path = options.demonstrations,
                              .encoder = options.encoder,
                              .embedding_cache = options.embedding_cache,
                              .per_batch = static_cast<std::size_t>(options.demonstration_unrolls),
                              .seed = runtime::DeriveSeed(seed, "cloning")},
                             spec, contents));
  return std::unique_ptr<Cloning>(new Cloning(options, std::move(demonstrations)));
}

absl::Status Cloning::Run(algorithms::PolicyTrainer& trainer, std::int64_t rank, std::int64_t ranks,
                          const OnCloned& on_cloned) const {
  while (trainer.updates() == 0 && trainer.clonings() < options_.demonstration_updates) {
    SHOAL_ASSIGN_OR_RETURN(
        const algorithms::CloningReport report,
        trainer.CloneBehaviour(demonstrations_->Batch(trainer.clonings(), rank, ranks),
                               options_.demonstration_learning_rate));
    SHOAL_RETURN_IF_ERROR(on_cloned(report));
  }
  return absl::OkStatus();
}

absl::StatusOr<algorithms::UpdateReport> Cloning::Update(algorithms::PolicyTrainer& trainer,
                                                         algorithms::UnrollBatch batch,
                                                         std::int64_t rank,
                                                         std::int64_t ranks) const {
  const double coefficient = training::LinearRate(
      options_.demonstration_coefficient, trainer.updates(), options_.demonstration_anneal_updates);
  if (coefficient <= 0) return trainer.Update(std::move(batch));
  const auto share = demonstrations_->Batch(trainer.clonings() + trainer.updates(), rank, ranks);
  return trainer.Update(std::move(batch), {.demonstrations = share, .coefficient = coefficient});
}

absl::Status Cloning::CheckEncoder(const std::vector<DecodedUnroll>& unrolls) const {
  if (demonstrations_->encoder_version().empty()) return absl::OkStatus();
  for (const DecodedUnroll& unroll : unrolls) {
    if (unroll.encoder_version == demonstrations_->encoder_version()) continue;
    return runtime::FailedPrecondition(
        "unrolls are of encoder " + unroll.encoder_version + ", the demonstrations of " +
        demonstrations_->encoder_version() +
        ": learner.encoder, learner.body_encoder, learner.encoder_table and "
        "learner.encoder_precision must be those of inference");
  }
  return absl::OkStatus();
}

}  // namespace shoal::learner
