// SPDX-License-Identifier: Apache-2.0
#include "learner/asynchronous/gradient_worker.h"

#include <span>
#include <utility>

#include "learner/unrolls/batch_builder.h"
#include "learner/unrolls/unroll_priorities.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/log.h"
#include "rl/parameters/version_wire.h"

namespace shoal::learner {
namespace {

double SecondsSince(runtime::TimePoint begin) {
  return std::chrono::duration<double>(runtime::SystemClock().Now() - begin).count();
}

std::string QuarantineFile(const std::string& folder) { return folder + "/quarantine"; }

}  // namespace

absl::StatusOr<std::unique_ptr<GradientWorker>> GradientWorker::Create(const WorkerOptions& options,
                                                                       const WorkerParts& parts) {
  SHOAL_ASSIGN_OR_RETURN(Quarantine quarantine, Quarantine::Read(QuarantineFile(options.folder)));
  SHOAL_ASSIGN_OR_RETURN(auto ledger, UnrollLedger::Create(options.ledger));
  return std::unique_ptr<GradientWorker>(
      new GradientWorker(options, parts, std::move(quarantine), std::move(ledger)));
}

GradientWorker::GradientWorker(const WorkerOptions& options, const WorkerParts& parts,
                               Quarantine quarantine, std::unique_ptr<UnrollLedger> ledger)
    : options_(options),
      parts_(parts),
      quarantine_(std::move(quarantine)),
      ledger_(std::move(ledger)),
      round_(options_.round, parts_.source, parts_.decoder, *ledger_, quarantine_,
             runtime::SystemClock()) {}

absl::Status GradientWorker::Run(const std::function<bool()>& stopped) {
  SHOAL_RETURN_IF_ERROR(Exchange({}));
  while (!told_to_leave_) {
    SHOAL_ASSIGN_OR_RETURN(const bool go_on, RunRound(stopped));
    if (!go_on) break;
  }
  return parts_.client.Exchange({.from = number_, .note = Note(), .leaves = true}).status();
}

absl::StatusOr<bool> GradientWorker::RunRound(const std::function<bool()>& stopped) {
  const auto begin = runtime::SystemClock().Now();
  const runtime::Duration decoded_before = round_.decoding();
  auto collected = round_.Collect(version_, stopped);
  if (absl::IsCancelled(collected.status())) return false;
  SHOAL_RETURN_IF_ERROR(collected.status());
  const double decoding = std::chrono::duration<double>(round_.decoding() - decoded_before).count();
  note_.decoding_seconds += decoding;
  note_.waiting_seconds += SecondsSince(begin) - decoding;
  if (2 * collected->size() < options_.round.share) {
    round_.Restore(*std::move(collected));
    SHOAL_RETURN_IF_ERROR(Exchange({}));
    return true;
  }
  unrolls_ = *std::move(collected);
  SHOAL_RETURN_IF_ERROR(Train());
  return true;
}

absl::Status GradientWorker::Train() {
  const auto begin = runtime::SystemClock().Now();
  if (parts_.cloning != nullptr) SHOAL_RETURN_IF_ERROR(parts_.cloning->CheckEncoder(unrolls_));
  note_.episodes = episodes_.Add(unrolls_);
  note_.unrolls = static_cast<std::int64_t>(unrolls_.size());
  note_.encoder_version = unrolls_.front().encoder_version;
  for (const DecodedUnroll& unroll : unrolls_) {
    note_.mean_use += unroll.key.use / static_cast<double>(unrolls_.size());
    if (!options_.round.off_policy) {
      ledger_->Add(unroll.key);
      note_.uses.push_back(unroll.key);
    }
  }
  const double importance_exponent =
      options_.algorithm.ImportanceExponentAfter(parts_.trainer.updates());
  SHOAL_ASSIGN_OR_RETURN(algorithms::RankGradient gradient,
                         parts_.trainer.ComputeGradient(
                             BuildBatch(options_.policy, unrolls_, version_, importance_exponent)));
  note_.report = std::move(gradient.report);
  SHOAL_RETURN_IF_ERROR(
      parts_.sampler.UpdatePriorities(PrioritiesOf(unrolls_, note_.report.priorities)));
  note_.updating_seconds = SecondsSince(begin);
  SHOAL_RETURN_IF_ERROR(Exchange(std::move(gradient.values)));
  note_ = {};
  return absl::OkStatus();
}

std::string GradientWorker::Note() {
  note_.counts = round_.counts();
  note_.inserted_steps = static_cast<double>(parts_.sampler.stats().inserted_steps_total);
  note_.target_number = target_number_;
  note_.exchanging_seconds = exchanging_seconds_;
  return Encode(note_);
}

absl::Status GradientWorker::Exchange(std::vector<float> gradient) {
  const auto begin = runtime::SystemClock().Now();
  SHOAL_ASSIGN_OR_RETURN(
      const collectives::SharedParameters shared,
      parts_.client.Exchange({.from = number_, .gradient = std::move(gradient), .note = Note()}));
  exchanging_seconds_ = SecondsSince(begin);
  return Adopt(shared);
}

absl::Status GradientWorker::Adopt(const collectives::SharedParameters& shared) {
  SHOAL_ASSIGN_OR_RETURN(const ParameterNote note, DecodeParameterNote(shared.note));
  const auto count = static_cast<std::size_t>(parts_.trainer.parameter_count());
  const std::span<const float> values = shared.values;
  if (values.size() < count) {
    return runtime::InvalidArgument("rank 0 sent " + std::to_string(values.size()) +
                                    " parameters, not " + std::to_string(count));
  }
  SHOAL_RETURN_IF_ERROR(parts_.trainer.Adopt(static_cast<std::int64_t>(shared.number.updates),
                                             values.first(count), values.subspan(count)));
  if (shared.number.epoch != number_.epoch) {
    SHOAL_ASSIGN_OR_RETURN(quarantine_, Quarantine::Read(QuarantineFile(options_.folder)));
  }
  number_ = shared.number;
  version_ = {number_.epoch, note.step};
  target_number_ = note.target_number;
  told_to_leave_ = shared.stop;
  parts_.sampler.SetCurrentVersion(parameters::ToProto(version_));
  return absl::OkStatus();
}

}  // namespace shoal::learner
