// SPDX-License-Identifier: Apache-2.0
#include "learner/learner.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "learner/asynchronous/gradient_worker.h"
#include "learner/circuit_breaker.h"
#include "learner/cloning/cloning.h"
#include "learner/cloning/demonstration_table.h"
#include "learner/epoch_file.h"
#include "learner/learner_holder.h"
#include "learner/learner_metrics.h"
#include "learner/learner_parts.h"
#include "learner/publication.h"
#include "learner/unrolls/batch_builder.h"
#include "learner/unrolls/episode_returns.h"
#include "learner/unrolls/quarantine.h"
#include "learner/unrolls/round.h"
#include "learner/unrolls/unroll_agreement.h"
#include "learner/unrolls/unroll_decoder.h"
#include "learner/unrolls/unroll_ledger.h"
#include "learner/unrolls/unroll_priorities.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/log.h"
#include "platform/runtime/thread.h"
#include "platform/transport/server.h"
#include "replay/client/sampler.h"
#include "replay/client/shard_admin.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/collectives/gradient_client.h"
#include "rl/collectives/gradient_hub.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/rank_times.h"
#include "rl/model/policy.h"
#include "rl/parameters/version_wire.h"

namespace shoal::learner {
namespace {

constexpr int kForgivenInARow = 10;
constexpr std::size_t kDigestBytes = 64;

double Seconds(runtime::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Learner>> Learner::Create(
    const LearnerSetup& setup, std::unique_ptr<collectives::GradientReducer> group) {
  model::SetTorchThreads(setup.run, setup.learner.torch_threads);
  auto learner = std::unique_ptr<Learner>(new Learner(std::make_unique<Parts>(), setup));
  learner->parts_->reducer = std::move(group);
  const absl::Status started = learner->Start();
  if (!started.ok()) {
    learner->parts_->reducer->Abort(started);
    return started;
  }
  return learner;
}

Learner::Learner(std::unique_ptr<Parts> parts, const LearnerSetup& setup)
    : setup_(setup), parts_(std::move(parts)) {}

Learner::~Learner() {
  if (parts_->sampler != nullptr) parts_->sampler->Close();
}

bool Learner::finished() const {
  return setup_.learner.updates > 0 && parts_->trainer->updates() >= setup_.learner.updates;
}
std::int64_t Learner::rank() const { return parts_->reducer->rank(); }
std::string Learner::Digest() const { return parts_->trainer->Digest(); }

absl::Status Learner::JoinEpoch(bool may_stay) {
  const std::string file = setup_.run.path() + "/epoch";
  SHOAL_ASSIGN_OR_RETURN(const std::uint64_t own, ReadEpoch(file));
  const std::uint64_t first = setup_.first_epoch > 0
                                  ? setup_.first_epoch
                                  : FirstEpoch(setup_.run.deterministic, runtime::SystemClock());
  // A folder may be new, or of a machine that was away for some epochs.
  std::array<double, 2> newest = {static_cast<double>(own), static_cast<double>(first)};
  SHOAL_RETURN_IF_ERROR(parts_->reducer->AllReduceMax(std::span<double>(newest)));
  const auto epoch = static_cast<std::uint64_t>(newest[0] > 0 ? newest[0] + 1 : newest[1]);
  const absl::Status written =
      parts_->checkpoints->keeps()
          ? runtime::Annotate(WriteEpoch(file, epoch),
                              "epoch " + std::to_string(epoch) + " cannot begin")
          : absl::OkStatus();
  const bool stays = may_stay && CanWait(written);
  if (!written.ok() && !stays) return written;
  // Nobody publishes a version of an epoch that could be taken again.
  std::array<double, 1> staying = {stays ? 1.0 : 0.0};
  SHOAL_RETURN_IF_ERROR(parts_->reducer->AllReduceMax(std::span<double>(staying)));
  if (staying[0] > 0) {
    ++parts_->version.step;
    return Tolerate(written, "epoch");
  }
  // In lock step an unroll may have begun before the epoch, in an older version than its first.
  parts_->version = {epoch,
                     setup_.run.deterministic ? static_cast<std::uint64_t>(TrainedNumber()) : 0};
  spdlog::info("event=epoch epoch={} rank={} ranks={}", epoch, rank(),
               parts_->reducer->world_size());
  return absl::OkStatus();
}

absl::Status Learner::CompareRanks(const std::string& when) {
  if (parts_->reducer->world_size() == 1) return absl::OkStatus();
  const std::string own = Digest();
  std::array<char, kDigestBytes> first{};
  std::copy_n(own.begin(), std::min(own.size(), first.size()), first.begin());
  SHOAL_RETURN_IF_ERROR(parts_->reducer->Broadcast(std::as_writable_bytes(std::span(first))));
  const bool same = std::equal(own.begin(), own.end(), first.begin(), first.end());
  std::array<double, 1> different = {same ? 0.0 : 1.0};
  SHOAL_RETURN_IF_ERROR(parts_->reducer->AllReduceSum(std::span<double>(different)));
  if (different[0] == 0) {
    spdlog::debug("event=ranks_identical update={} digest={}", parts_->trainer->updates(), own);
    return absl::OkStatus();
  }
  return runtime::Internal("ranks hold different parameters " + when + ": rank " +
                           std::to_string(rank()) + " has " + own + ", rank 0 has " +
                           std::string(first.data(), first.size()));
}

std::int64_t Learner::TrainedNumber() const {
  return parts_->trainer->updates() + parts_->trainer->clonings();
}

absl::Status Learner::Publish(bool save) {
  Parts& parts = *parts_;
  parts.published_number = TrainedNumber();
  parts.sampler->SetCurrentVersion(parameters::ToProto(parts.version));
  if (rank() != 0) return absl::OkStatus();
  // The last version of a run is published again at its end, and still says the same.
  if (parts.published != parts.version) parts.published_with_checkpoint = IsCheckpointOwed();
  parts.published = parts.version;
  SHOAL_ASSIGN_OR_RETURN(
      std::string bytes,
      parts.trainer->SerializeParameters(
          {{"environment_steps", absl::StrFormat("%.0f", parts.environment_steps)},
           {"epoch", std::to_string(parts.version.epoch)},
           {"step", std::to_string(parts.version.step)},
           {"update", std::to_string(TrainedNumber())},
           {"checkpoint", parts.published_with_checkpoint ? "1" : "0"},
           {"encoder_version", parts.encoder_version}}));
  parameters::Parameters parameters{.version = parts.version,
                                    .spec_digest = setup_.policy.Digest(),
                                    .encoder_version = parts.encoder_version,
                                    .bytes = std::make_shared<const std::string>(std::move(bytes))};
  // The file must be there before the version is announced: a client may then ask for it.
  const absl::Status saved = save ? parts.publication->Save(parameters) : absl::OkStatus();
  if (saved.ok() || CanWait(saved)) parts.publication->Publish(parameters);
  return saved;
}

absl::Status Learner::Run() {
  const absl::Status end = setup_.learner.asynchronous() ? RunExchange() : RunRounds();
  if (!end.ok()) parts_->reducer->Abort(end);
  if (absl::IsOutOfRange(end)) NoteDivergence(end);
  return end;
}

absl::Status Learner::RunExchange() {
  Parts& parts = *parts_;
  absl::Status served;
  runtime::Thread serving;
  if (parts.hub != nullptr) {
    serving = runtime::Thread("gradients", [&] { served = parts.hub->Serve(); });
  }
  const absl::Status worked =
      parts.worker->Run([this] { return stopped_.load(std::memory_order_relaxed); });
  if (!worked.ok()) parts.client->Abort(worked);
  if (serving.joinable()) serving.Join();
  SHOAL_RETURN_IF_ERROR(worked);
  SHOAL_RETURN_IF_ERROR(served);
  return Finish();
}

absl::Status Learner::RunRounds() {
  while (!finished()) {
    SHOAL_ASSIGN_OR_RETURN(const bool go_on, RunRound());
    if (!go_on) break;
  }
  return Finish();
}

absl::Status Learner::Finish() {
  spdlog::info("event=digest update={} digest={}", parts_->trainer->updates(), Digest());
  if (parts_->health != nullptr) parts_->health->SetServing(false);
  parts_->sampler->Close();
  // Parameters that were trained since the last version are another one.
  if (TrainedNumber() != parts_->published_number) ++parts_->version.step;
  absl::Status saved = parts_->breaker->healthy_at_end() ? SaveCheckpoint() : absl::OkStatus();
  if (saved.ok()) saved = Settle();
  if (saved.ok() && parts_->quarantine_waits) saved = parts_->quarantine->Write();
  if (rank() == 0) {
    if (saved.ok()) saved = Publish(/*save=*/true);
    parts_->publication->Drain();
    parts_->publication.reset();
  }
  return saved;
}

absl::StatusOr<bool> Learner::RunRound() {
  Parts& parts = *parts_;
  const auto begin = runtime::SystemClock().Now();
  const auto decoding_before = parts.round->decoding();
  const std::int64_t update = parts.trainer->updates();
  const std::size_t demonstrations =
      parts.demonstrations == nullptr ? 0 : parts.demonstrations->CountOf(update, parts.share);
  auto collected = parts.round->Collect(
      parts.version, [this] { return stopped_.load(std::memory_order_relaxed); }, demonstrations);
  if (!collected.ok() && !absl::IsCancelled(collected.status())) return collected.status();
  const bool stopping = !collected.ok();
  parts.unrolls = stopping ? std::vector<DecodedUnroll>() : *std::move(collected);
  parts.record = {};
  parts.record.decoding_seconds = Seconds(parts.round->decoding() - decoding_before);
  const auto agreeing = runtime::SystemClock().Now();
  parts.record.waiting_seconds = Seconds(agreeing - begin) - parts.record.decoding_seconds;

  std::array<double, 3> sums = {static_cast<double>(parts.unrolls.size() + demonstrations),
                                stopping ? 1.0 : 0.0, parts.checkpoints->written() ? 0.0 : 1.0};
  SHOAL_RETURN_IF_ERROR(parts.reducer->AllReduceSum(std::span<double>(sums)));
  if (sums[1] > 0) return false;
  if (sums[2] == 0) SHOAL_RETURN_IF_ERROR(Tolerate(Settle(), "checkpoint"));
  if (2 * sums[0] < static_cast<double>(setup_.learner.round_unrolls)) {
    parts.round->Restore(std::exchange(parts.unrolls, {}));
    return true;
  }
  if (!parts.trainer->requirements().off_policy) {
    SHOAL_RETURN_IF_ERROR(
        AgreeOnUnrolls(*parts.reducer, parts.largest_share, *parts.ledger, parts.unrolls));
  }
  parts.from_replay = parts.unrolls.size();
  double drawing_seconds = 0;
  if (parts.demonstrations != nullptr) {
    const auto drawing = runtime::SystemClock().Now();
    auto drawn = parts.demonstrations->Draw(update, demonstrations, parts.version);
    std::move(drawn.begin(), drawn.end(), std::back_inserter(parts.unrolls));
    drawing_seconds = Seconds(runtime::SystemClock().Now() - drawing);
  }
  std::array<double, 5> trained = {static_cast<double>(parts.unrolls.size()),
                                   static_cast<double>(demonstrations)};
  for (const DecodedUnroll& unroll : std::span(parts.unrolls).first(parts.from_replay)) {
    trained[2] += unroll.key.use;
  }
  // Ranks save together, so one clock decides.
  trained[3] = rank() == 0 && IsCheckpointTime() ? 1.0 : 0.0;
  // Each rank has heard of other steps, and all save the same state.
  trained[4] = rank() == 0 ? static_cast<double>(parts.sampler->stats().inserted_steps_total) : 0.0;
  SHOAL_RETURN_IF_ERROR(parts.reducer->AllReduceSum(std::span<double>(trained)));
  parts.is_checkpoint_time = trained[3] > 0;
  parts.inserted_steps = trained[4];
  parts.record.unrolls = static_cast<std::int64_t>(trained[0]);
  parts.record.demonstrations = static_cast<std::int64_t>(trained[1]);
  parts.record.mean_use = trained[2] / std::max(1.0, trained[0] - trained[1]);
  parts.record.decoding_seconds += drawing_seconds;
  parts.record.agreeing_seconds =
      Seconds(runtime::SystemClock().Now() - agreeing) - drawing_seconds;
  SHOAL_RETURN_IF_ERROR(Train());
  return true;
}

absl::Status Learner::Train() {
  Parts& parts = *parts_;
  const auto begin = runtime::SystemClock().Now();
  collectives::RankStopwatch stopwatch(*parts.reducer, runtime::SystemClock());
  if (parts.cloning != nullptr) {
    SHOAL_RETURN_IF_ERROR(parts.cloning->CheckEncoder(parts.unrolls));
  }
  algorithms::UnrollBatch batch =
      BuildBatch(setup_.policy, parts.unrolls, parts.version,
                 setup_.algorithm.ImportanceExponentAfter(parts.trainer->updates()));
  batch.newest_is_trained = TrainedNumber() == parts.published_number;
  const double rows = std::accumulate(batch.weight.begin(), batch.weight.end(), 0.0);
  parts.record.episodes = parts.episodes.Add(std::span(parts.unrolls).first(parts.from_replay));
  const bool off_policy = parts.trainer->requirements().off_policy;
  if (!off_policy) {
    std::vector<UnrollUse> keys;
    for (const DecodedUnroll& unroll : parts.unrolls) keys.push_back(unroll.key);
    SHOAL_RETURN_IF_ERROR(LogUses(keys));
  }
  parts.verdict = {};
  parts.trainer->ScaleRate(parts.breaker->rate_factor());
  parts.trainer->ScaleKlPenalty(parts.breaker->kl_factor());
  auto report = parts.cloning == nullptr
                    ? parts.trainer->Update(std::move(batch))
                    : parts.cloning->Update(*parts.trainer, std::move(batch), rank(),
                                            parts.reducer->world_size());
  if (!report.ok()) {
    return collectives::IsShared(report.status()) ? Obey(report.status())
                                                  : Forgive(report.status());
  }
  parts.failures_in_a_row = 0;
  parts.record.report = *std::move(report);
  const auto updated = runtime::SystemClock().Now();
  parts.record.updating_seconds = Seconds(updated - begin);
  SHOAL_ASSIGN_OR_RETURN(parts.record.ranks, stopwatch.Stop(rows));

  if (off_policy) {
    parts.environment_steps = parts.earlier_environment_steps + parts.inserted_steps;
  } else {
    parts.environment_steps += parts.record.report.rows;
  }
  SHOAL_RETURN_IF_ERROR(UpdatePriorities());
  parts.record.counts = parts.round->counts();
  if (parts.encoder_version.empty() && !parts.unrolls.empty()) {
    parts.encoder_version = parts.unrolls.front().encoder_version;
  }
  if (setup_.learner.verify_ranks) SHOAL_RETURN_IF_ERROR(CompareRanks("after an update"));
  return AfterUpdate();
}

absl::Status Learner::UpdatePriorities() {
  const std::span<const float> all = parts_->record.report.priorities;
  const auto priorities = all.first(std::min(all.size(), parts_->from_replay));
  if (parts_->demonstrations != nullptr) {
    parts_->demonstrations->UpdatePriorities(all.subspan(priorities.size()));
  }
  return parts_->sampler->UpdatePriorities(PrioritiesOf(parts_->unrolls, priorities));
}

absl::Status Learner::AfterUpdate() {
  Parts& parts = *parts_;
  const auto begin = runtime::SystemClock().Now();
  const std::int64_t update = parts.trainer->updates();
  const LearnerOptions& options = setup_.learner;
  if (parts.verdict.softens) ReportSoftening();
  if (parts.quarantine_waits) SHOAL_RETURN_IF_ERROR(WriteQuarantine());
  parts.recent_returns.Add(parts.record.episodes);
  if (parts.joined != nullptr) {
    parts.is_checkpoint_time = IsCheckpointTime();
    if (parts.checkpoints->written()) SHOAL_RETURN_IF_ERROR(Tolerate(Settle(), "checkpoint"));
  }
  // An evaluation is not worth a wait for the disk. In lock step a version says beforehand whether
  // there is a checkpoint of it.
  const bool saves_evaluated = parts.evaluation_return && parts.keeps_best &&
                               parts.breaker->healthy() && !parts.checkpoints->under_way() &&
                               !setup_.run.deterministic;
  if (IsCheckpointDue()) parts.checkpoint_was_due = true;
  // All ranks count versions alike, so no clock may decide whether there is a new one.
  const bool checkpoint_due = IsCheckpointOwed() || saves_evaluated;
  // In lock step each version begins a round, and a checkpoint waits for the next one.
  const bool publishes =
      update % options.publish_every_updates == 0 || (checkpoint_due && !setup_.run.deterministic);
  const bool checkpoint =
      parts.breaker->healthy() && publishes && (checkpoint_due || parts.is_checkpoint_time);
  if (publishes) {
    ++parts.version.step;
    SHOAL_RETURN_IF_ERROR(Tolerate(Publish(checkpoint), "parameters"));
  }
  if (checkpoint) SHOAL_RETURN_IF_ERROR(SaveCheckpoint());
  const std::int64_t digest_every = setup_.learner.digest_every_updates;
  if (digest_every > 0 && update % digest_every == 0) {
    spdlog::info("event=digest update={} digest={}", update, Digest());
  }
  UpdateRecord& record = parts.record;
  record.version = parts.version;
  record.environment_steps = parts.environment_steps;
  record.breaker = parts.breaker->state();
  record.publishing_seconds = Seconds(runtime::SystemClock().Now() - begin);
  if (parts.reports != nullptr) parts.reports->Record(record);
  parts.unrolls.clear();
  return absl::OkStatus();
}

// Returns `failure` where there are other ranks: they wait in a reduction that this rank left.
absl::Status Learner::Forgive(const absl::Status& failure) {
  if (parts_->reducer->world_size() > 1 || ++parts_->failures_in_a_row >= kForgivenInARow)
    return failure;
  spdlog::error("event=update_failed update={} reason={}", parts_->trainer->updates(),
                runtime::Quoted(runtime::Message(failure)));
  if (parts_->reports != nullptr) parts_->reports->RecordFailure();
  parts_->unrolls.clear();
  return absl::OkStatus();
}

}  // namespace shoal::learner
