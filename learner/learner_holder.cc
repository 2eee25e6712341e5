// SPDX-License-Identifier: Apache-2.0
#include "learner/learner_holder.h"

#include <algorithm>
#include <utility>

#include "learner/learner_parts.h"

namespace shoal::learner {

Learner::Holder::Holder(Learner& learner)
    : learner_(learner), parts_(*learner.parts_), notes_(parts_.ranks) {}

collectives::ParameterNumber Learner::Holder::number() const {
  return {parts_.version.epoch, static_cast<std::uint64_t>(parts_.trainer->updates())};
}

absl::Status Learner::Holder::Hear(std::int64_t rank,
                                   const collectives::Contribution& contribution) {
  absl::StatusOr<GradientNote> note = DecodeGradientNote(contribution.note);
  if (!note.ok()) return runtime::Annotate(note.status(), "rank " + std::to_string(rank));
  notes_[static_cast<std::size_t>(rank)] = *std::move(note);
  return absl::OkStatus();
}

void Learner::Holder::CountSteps(const GradientNote& note) {
  if (!parts_.trainer->requirements().off_policy) {
    parts_.environment_steps += note.report.rows;
    return;
  }
  // All ranks sample from all shards, so each hears of the same steps.
  for (const GradientNote& one : notes_) {
    parts_.environment_steps =
        std::max(parts_.environment_steps, parts_.earlier_environment_steps + one.inserted_steps);
  }
}

bool Learner::Holder::WasUsed(const GradientNote& note) const {
  return std::any_of(note.uses.begin(), note.uses.end(),
                     [this](const UnrollUse& use) { return parts_.ledger->Contains(use); });
}

RoundCounts Learner::Holder::Counts() const {
  RoundCounts sums;
  for (const GradientNote& note : notes_) {
    sums.accepted += note.counts.accepted;
    sums.repeated += note.counts.repeated;
    sums.stale += note.counts.stale;
    sums.condemned += note.counts.condemned;
    sums.invalid += note.counts.invalid;
    sums.cut_short += note.counts.cut_short;
  }
  return sums;
}

void Learner::Holder::Count(const std::string& fate) {
  if (fate != "applied") ++dropped_;
  parts_.reports->RecordGradient(fate);
}

absl::Status Learner::Holder::Drop(std::int64_t rank, const collectives::Contribution&) {
  CountSteps(NoteOf(rank));
  Count("stale");
  return absl::OkStatus();
}

absl::StatusOr<collectives::GradientFate> Learner::Holder::Apply(
    std::int64_t rank, const collectives::Contribution& contribution) {
  const GradientNote& note = NoteOf(rank);
  if (learner_.finished()) {
    Count("late");
    return collectives::GradientFate::kRefused;
  }
  // Where a shard has died, a use may be given out again, to another rank.
  if (WasUsed(note)) {
    Count("repeated");
    return collectives::GradientFate::kRefused;
  }
  const auto update = static_cast<std::uint64_t>(parts_.trainer->updates());
  if (!note.uses.empty()) SHOAL_RETURN_IF_ERROR(learner_.LogUses(note.uses));
  parts_.record = {.unrolls = note.unrolls,
                   .mean_use = note.mean_use,
                   .episodes = note.episodes,
                   .counts = Counts(),
                   .gradient = GradientRecord{.rank = rank,
                                              .staleness = update - contribution.from.updates,
                                              .dropped = dropped_},
                   .waiting_seconds = note.waiting_seconds,
                   .decoding_seconds = note.decoding_seconds,
                   .agreeing_seconds = note.exchanging_seconds,
                   .updating_seconds = note.updating_seconds};
  parts_.verdict = {};
  parts_.trainer->ScaleRate(parts_.breaker->rate_factor());
  auto report = parts_.trainer->ApplyGradient({contribution.gradient, note.report});
  if (!report.ok()) {
    if (!collectives::IsShared(report.status())) return report.status();
    Count("undone");
    SHOAL_RETURN_IF_ERROR(learner_.Obey(report.status()));
    return collectives::GradientFate::kRefused;
  }
  Count("applied");
  CountSteps(note);
  parts_.record.report = *std::move(report);
  parts_.record.updating_seconds += parts_.record.report.step_seconds;
  if (parts_.encoder_version.empty()) parts_.encoder_version = note.encoder_version;
  SHOAL_RETURN_IF_ERROR(learner_.AfterUpdate());
  return collectives::GradientFate::kApplied;
}

absl::Status Learner::Holder::Answer(std::int64_t rank,
                                     const collectives::Contribution& contribution,
                                     collectives::SharedParameters& answer) {
  const ParameterNote now{.step = parts_.version.step,
                          .target_number = parts_.trainer->target_number()};
  answer.values = parts_.trainer->Parameters();
  if (contribution.from.epoch != parts_.version.epoch ||
      NoteOf(rank).target_number != now.target_number) {
    const std::vector<float> target = parts_.trainer->TargetParameters();
    answer.values.insert(answer.values.end(), target.begin(), target.end());
  }
  answer.note = Encode(now);
  answer.stop = learner_.finished();
  return absl::OkStatus();
}

}  // namespace shoal::learner
