// SPDX-License-Identifier: Apache-2.0
// What a learner does with the verdicts of its circuit breaker.
#include <absl/strings/ascii.h>
#include <absl/strings/str_format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "learner/circuit_breaker.h"
#include "learner/learner.h"
#include "learner/learner_metrics.h"
#include "learner/learner_parts.h"
#include "learner/publication.h"
#include "learner/unrolls/quarantine.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/log.h"
#include "platform/transport/address_list.h"
#include "replay/client/shard_admin.h"

namespace shoal::learner {
namespace {

constexpr std::chrono::seconds kExclusionTimeout(5);

std::string DivergenceFile(const std::string& run_folder) { return run_folder + "/diverged"; }

}  // namespace

absl::Status Learner::CheckDivergence() {
  const std::string file = DivergenceFile(setup_.run.path());
  const absl::StatusOr<std::string> reason = runtime::ReadFile(file);
  const bool unknown = !reason.ok() && !absl::IsNotFound(reason.status());
  std::array<double, 2> found = {reason.ok() ? 1.0 : 0.0, unknown ? 1.0 : 0.0};
  SHOAL_RETURN_IF_ERROR(parts_->reducer->AllReduceMax(std::span<double>(found)));
  if (unknown) return runtime::Annotate(reason.status(), "whether training diverged is unknown");
  if (!reason.ok() && found[0] > 0) {
    return runtime::OutOfRange("another rank's folder says that training diverged");
  }
  if (found[1] > 0) {
    return runtime::Unavailable("another rank cannot read whether training diverged");
  }
  if (!reason.ok()) return absl::OkStatus();
  return runtime::OutOfRange(
      file +
      " is there, so nothing is trained: remove it to go on from the last checkpoint, or use "
      "shoal train --resume. It says: " +
      std::string(absl::StripTrailingAsciiWhitespace(*reason)));
}

void Learner::NoteDivergence(const absl::Status& reason) {
  if (!parts_->checkpoints->keeps()) return;
  const absl::Status written = runtime::WriteFileAtomically(DivergenceFile(setup_.run.path()),
                                                            runtime::Message(reason) + "\n");
  if (written.ok()) return;
  spdlog::error("event=divergence_not_noted reason={}", runtime::Quoted(runtime::Message(written)));
}

void Learner::TakeEvaluations() {
  if (rank() != 0) return;
  for (const parameters::EvaluationReport& report : parts_->publication->TakeEvaluations()) {
    if (parts_->quarantine->Contains(report.version)) continue;
    parts_->evaluations.push_back(report);
  }
}

absl::Status Learner::Judge(const UpdateVitals& vitals) {
  Parts& parts = *parts_;
  // A rank's own figures may differ in rounding, so all judge by those of the first.
  UpdateVitals agreed = vitals;
  SHOAL_RETURN_IF_ERROR(
      parts.reducer->Broadcast(std::as_writable_bytes(std::span(&agreed, std::size_t{1}))));
  parts.keeps_best = agreed.keeps_best;
  parts.verdict = parts.breaker->Judge(agreed);
  // An update that is skipped says nothing of them.
  if (parts.verdict.action != BreakerAction::kSkip) parts.evaluations.clear();
  if (parts.verdict.action == BreakerAction::kGoOn) {
    parts.evaluation_return =
        agreed.evaluations > 0 ? std::optional(agreed.evaluation_return) : std::nullopt;
    return absl::OkStatus();
  }
  return collectives::SharedFailure(absl::StrFormat(
      "gradient norm %g, KL %g, clip fraction %g, entropy %g, effective sample size "
      "%g, explained variance %g, return %g, evaluation %g, lost episodes %d of %d, "
      "drift of log-probabilities %g",
      agreed.gradient_norm, agreed.approximate_kl, agreed.clip_fraction, agreed.entropy,
      agreed.effective_sample_size, agreed.explained_variance, agreed.episode_return,
      agreed.evaluation_return, agreed.lost_episodes, agreed.lost_episodes + agreed.episodes,
      agreed.log_probability_drift));
}

void Learner::ReportSoftening() const {
  const Parts& parts = *parts_;
  const std::int64_t update = parts.trainer->updates();
  // There is no penalty on the KL where gradients are asynchronous.
  const double kl_factor = setup_.learner.asynchronous() ? 1 : parts.breaker->kl_factor();
  spdlog::warn("event=softened update={} reason={} rate_factor={} kl_factor={}", update,
               ToString(*parts.verdict.symptom), parts.breaker->rate_factor(), kl_factor);
  if (parts.reports != nullptr) parts.reports->RecordSoftening(update, *parts.verdict.symptom);
}

absl::Status Learner::Obey(const absl::Status& failure) {
  Parts& parts = *parts_;
  // The breaker has seen no report where numbers were not finite.
  if (parts.verdict.action == BreakerAction::kGoOn) {
    parts.verdict = parts.breaker->Judge({.begins_with = TrainedNumber(), .finite = false});
  }
  const Verdict verdict = parts.verdict;
  const std::int64_t update = parts.trainer->updates();
  parts.unrolls.clear();
  spdlog::error("event=update_undone update={} reason={} action={} numbers={}", update,
                ToString(*verdict.symptom), ToString(verdict.action),
                runtime::Quoted(runtime::Message(failure)));
  if (parts.reports != nullptr) parts.reports->RecordVerdict(update, verdict);
  if (verdict.softens) ReportSoftening();
  if (verdict.action == BreakerAction::kSkip) {
    if (!setup_.run.deterministic) return absl::OkStatus();
    // In lock step actors wait for a version after each round.
    ++parts.version.step;
    return Publish(/*save=*/false);
  }
  const bool goes_back = verdict.action == BreakerAction::kRollBack;
  if (goes_back && !setup_.run.deterministic) return RollBack(verdict);
  SHOAL_RETURN_IF_ERROR(Tolerate(Settle(), "checkpoint"));
  const absl::Status diverged = runtime::OutOfRange(
      "training diverged after update " + std::to_string(update) + " (" +
      ToString(*verdict.symptom) + "), and " +
      (goes_back ? "run.deterministic allows no rollback: " : "rollbacks did not help: ") +
      runtime::Message(failure));
  // Before the shards are told, which takes a while where one does not answer.
  NoteDivergence(diverged);
  const absl::Status condemned = Condemn(parts.saved);
  if (!condemned.ok()) {
    spdlog::error("event=versions_not_condemned reason={}",
                  runtime::Quoted(runtime::Message(condemned)));
  }
  return diverged;
}

absl::Status Learner::RollBack(const Verdict& verdict) {
  Parts& parts = *parts_;
  SHOAL_RETURN_IF_ERROR(Tolerate(Settle(), "checkpoint"));
  training::CheckpointChoice choice{
      .rather_up_to = verdict.healthy_number,
      .rather_best = parts.keeps_best && IsOfReturns(*verdict.symptom)};
  SHOAL_ASSIGN_OR_RETURN(parts.saved, TargetOf(choice));
  // First, so that a learner that dies here and starts again goes back as well.
  SHOAL_RETURN_IF_ERROR(Condemn(parts.saved));
  SHOAL_ASSIGN_OR_RETURN(choice.rather_not, CondemnedCheckpoints());
  const absl::StatusOr<LoadedCheckpoint> loaded = LoadCheckpoint(CheckpointsFolder(), choice);
  if (absl::IsNotFound(loaded.status())) {
    return runtime::OutOfRange("training diverged: " + runtime::Message(loaded.status()));
  }
  if (!loaded.ok()) return loaded.status();
  // They are of versions that are condemned now.
  parts.evaluations.clear();
  parts.evaluation_return.reset();
  parts.recent_returns.Clear();
  SHOAL_RETURN_IF_ERROR(CompareRanks("after a rollback"));
  if (loaded->version != parts.saved.version) {
    parts.saved = {loaded->version, TrainedNumber()};
    SHOAL_RETURN_IF_ERROR(Condemn(parts.saved));
  }
  SHOAL_RETURN_IF_ERROR(parts.checkpoints->WithdrawAfter(TrainedNumber()));
  // Gradients are told from those of before by their epoch, where ranks are not in step.
  SHOAL_RETURN_IF_ERROR(JoinEpoch(/*may_stay=*/!setup_.learner.asynchronous()));
  parts.epoch_number = TrainedNumber();
  parts.breaker->RolledBack();
  spdlog::warn("event=rolled_back update={} version={}", parts.trainer->updates(),
               parameters::ToString(parts.version));
  return Tolerate(Publish(/*save=*/true), "parameters");
}

absl::Status Learner::Condemn(const SavedState& saved) {
  Parts& parts = *parts_;
  const std::optional<parameters::VersionRange> range =
      VersionsAfter(saved.version, parts.version, saved.number == parts.epoch_number);
  if (range) parts.quarantine->Add(*range);
  const absl::Status written = WriteQuarantine();
  if (!range || rank() != 0) return written;
  SHOAL_ASSIGN_OR_RETURN(const auto shards,
                         transport::AddressList::Create(
                             setup_.cluster.replay, setup_.cluster.replay_file, "replay shard"));
  proto::ExcludeRequest request;
  request.set_epoch(range->first.epoch);
  request.set_first_step(range->first.step);
  request.set_last_epoch(range->last.epoch);
  request.set_last_step(range->last.step);
  const auto answers =
      replay::client::ExcludeFromShards(shards.addresses(), request, kExclusionTimeout);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    spdlog::warn(
        "event=versions_excluded first={} last={} shard={} {}", parameters::ToString(range->first),
        parameters::ToString(range->last), shards.addresses()[i],
        answers[i].ok() ? "items=" + std::to_string(answers[i]->removed())
                        : "failed=" + runtime::Quoted(runtime::Message(answers[i].status())));
  }
  return written;
}

}  // namespace shoal::learner
