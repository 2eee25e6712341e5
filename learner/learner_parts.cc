// SPDX-License-Identifier: Apache-2.0
#include "learner/learner_parts.h"

#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "learner/unrolls/shared_records.h"
#include "platform/runtime/log.h"
#include "rl/collectives/socket.h"
#include "rl/model/compute_device.h"
#include "text/embedding/make_text_encoder.h"

namespace shoal::learner {
namespace {

using std::chrono::milliseconds;

// The bounds of what goes with a gradient: its own numbers, and those of each unroll.
constexpr std::size_t kMaxNoteBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxNoteBytesOfUnroll = 64;
// How many updates that clone are between two lines of the log.
constexpr std::int64_t kShownClonings = 50;

std::string ListenAddress(const LearnerSetup& setup) {
  if (!setup.learner.listen.empty()) return setup.learner.listen;
  return setup.cluster.learner.empty() ? "127.0.0.1:0" : setup.cluster.learner;
}

absl::StatusOr<model::ComputeDevice> DeviceOf(const LearnerOptions& options,
                                              std::int64_t local_rank) {
  auto device = model::FindComputeDevice(options.device, local_rank);
  if (!device.ok()) return runtime::Annotate(device.status(), "learner.device");
  SHOAL_ASSIGN_OR_RETURN(device->precision, model::PrecisionNamed(options.precision));
  return device;
}

UpdateVitals VitalsOf(const algorithms::UpdateReport& report, const EpisodeSummary& episodes) {
  UpdateVitals vitals{.finite = !std::isnan(report.approximate_kl),
                      .gradient_norm = report.gradient_norm,
                      .approximate_kl = report.approximate_kl,
                      .entropy = report.entropy,
                      .effective_sample_size = report.rows > 0 ? report.effective_sample_size : 1,
                      .explained_variance = report.explained_variance,
                      .episodes = episodes.episodes,
                      .episode_return = episodes.mean_return,
                      .lost_episodes = episodes.lost,
                      .log_probability_drift = report.log_probability_drift,
                      .current_rows = report.current_rows};
  for (const auto& [name, value] : report.algorithm_metrics) {
    if (name == "clip_fraction") vitals.clip_fraction = value;
  }
  return vitals;
}

}  // namespace

absl::Status Learner::Start() {
  Parts& parts = *parts_;
  const LearnerOptions& options = setup_.learner;
  SHOAL_RETURN_IF_ERROR(setup_.policy.Validate());
  const std::int64_t ranks = parts.reducer->world_size();
  parts.ranks = static_cast<std::size_t>(ranks);
  SHOAL_RETURN_IF_ERROR(collectives::CheckCompression(options.compression(), options.group()));
  if (options.asynchronous()) SHOAL_RETURN_IF_ERROR(CheckAsynchronous());
  if (setup_.run.deterministic && ranks > 1) {
    return runtime::InvalidArgument("run.deterministic: needs one learner rank, there are " +
                                    std::to_string(ranks));
  }
  SHOAL_RETURN_IF_ERROR(CheckDivergence());
  SHOAL_ASSIGN_OR_RETURN(const model::ComputeDevice device, DeviceOf(options, setup_.local_rank));
  parts.metrics.ExposeGpu(device.name);
  SHOAL_ASSIGN_OR_RETURN(
      parts.trainer, algorithms::PolicyTrainer::Create(setup_.policy, setup_.algorithm,
                                                       static_cast<std::uint64_t>(setup_.run.seed),
                                                       *parts.reducer, device));
  if (options.compresses_gradients()) parts.trainer->CompressGradients();
  if (options.asynchronous()) SHOAL_RETURN_IF_ERROR(parts.trainer->CheckAsynchronous());
  const bool on_demand = setup_.run.deterministic && parts.trainer->requirements().off_policy;
  if (on_demand) SHOAL_RETURN_IF_ERROR(CheckSampledInLockStep());
  SHOAL_ASSIGN_OR_RETURN(parts.quarantine, Quarantine::Read(setup_.run.path() + "/quarantine"));
  SHOAL_RETURN_IF_ERROR(Resume());
  SHOAL_RETURN_IF_ERROR(JoinEpoch(/*may_stay=*/false));
  SHOAL_ASSIGN_OR_RETURN(
      parts.ledger,
      UnrollLedger::Create({.folder = setup_.run.path(),
                            .rank = static_cast<int>(rank()),
                            .window = static_cast<std::size_t>(options.unroll_id_window)}));
  if (rank() == 0) {
    SHOAL_ASSIGN_OR_RETURN(
        parts.reports, LearnerMetrics::Create(setup_.run.path() + "/learner.jsonl", parts.metrics));
    parts.reports->RecordGroupFailures(setup_.group_failures);
    parts.reports->RecordGroupChanges(setup_.group_changes);
    SHOAL_RETURN_IF_ERROR(parts.metrics.Expose(options.metrics_listen));
    SHOAL_ASSIGN_OR_RETURN(
        parts.publication,
        Publication::Create(
            {.listen = ListenAddress(setup_),
             .folder = setup_.run.path() + "/parameters",
             .kept_folder = setup_.run.path() + "/best",
             .keep = static_cast<std::size_t>(options.keep_parameters),
             .recent_bytes = static_cast<std::size_t>(options.recent_parameters_bytes),
             .differences = options.publishes_differences(),
             .halves = options.publishes_halves()},
            parts.metrics));
  }
  SHOAL_RETURN_IF_ERROR(ShareRecords());
  parts.breaker.emplace(options.breaker);
  const auto share_of = [&](std::int64_t of) {
    return static_cast<std::size_t>(UnrollsOfRank(options.round_unrolls, of, ranks));
  };
  parts.largest_share = share_of(0);
  // Asynchronous ranks make an update each, all of the same size.
  parts.share = options.asynchronous() ? parts.largest_share : share_of(rank());
  parts.contents = std::make_unique<ContentTable>(
      ContentTableOptions{.embedding_size = setup_.policy.embedding_size,
                          .similarity_size = setup_.policy.similarity_size,
                          .max_bytes = static_cast<std::size_t>(options.content_capacity_bytes)});
  SHOAL_RETURN_IF_ERROR(CloneDemonstrations());
  SHOAL_RETURN_IF_ERROR(MakeDemonstrationTable());
  parts.decoder = std::make_unique<UnrollDecoder>(setup_.policy, *parts.contents,
                                                  static_cast<std::uint32_t>(options.policy_id),
                                                  options.burn_in);
  SHOAL_ASSIGN_OR_RETURN(parts.sampler,
                         replay::client::Sampler::Create(
                             {.addresses = setup_.cluster.replay,
                              .address_file = setup_.cluster.replay_file,
                              .client = "learner-" + std::to_string(rank()),
                              .table = options.table,
                              .prefetch = parts.share,
                              .max_lag = static_cast<std::uint32_t>(options.max_lag),
                              .chunk_bytes = static_cast<std::size_t>(options.chunk_cache_bytes),
                              .group_epoch = parts.version.epoch,
                              .rank = static_cast<std::uint32_t>(rank()),
                              .world = static_cast<std::uint32_t>(ranks),
                              .signature = parts.decoder->Signature(),
                              .seed = static_cast<std::uint64_t>(setup_.run.seed),
                              .on_demand = on_demand,
                              .connect = setup_.connect_replay},
                             *parts.contents, parts.metrics));
  parts.source = std::make_unique<SamplerSource>(*parts.sampler);
  if (!options.asynchronous()) {
    parts.round = std::make_unique<Round>(RoundKnobs(), *parts.source, *parts.decoder,
                                          *parts.ledger, *parts.quarantine, runtime::SystemClock());
  }
  parts.trainer->SetJudge([this](const algorithms::UpdateReport& report) {
    UpdateVitals vitals = VitalsOf(report, parts_->record.episodes);
    vitals.begins_with = TrainedNumber();
    TakeEvaluations();
    vitals.evaluations = static_cast<std::int64_t>(parts_->evaluations.size());
    if (vitals.evaluations > 0) vitals.evaluation_return = parts_->evaluations.back().mean_return;
    vitals.keeps_best = setup_.learner.keep_best_checkpoints > 0;
    return Judge(vitals);
  });
  parts.epoch_number = TrainedNumber();
  // A rollback needs a checkpoint to go back to.
  if (!parts.has_checkpoint) SHOAL_RETURN_IF_ERROR(SaveCheckpoint());
  SHOAL_RETURN_IF_ERROR(Settle());
  SHOAL_RETURN_IF_ERROR(Publish(/*save=*/true));
  if (options.asynchronous()) SHOAL_RETURN_IF_ERROR(BeginExchange());
  if (setup_.local_rank != 0 || options.health_listen.empty()) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(parts.health,
                         transport::Server::Create({.listen = options.health_listen}, {}));
  parts.health->SetServing(true);
  return absl::OkStatus();
}

absl::Status Learner::CheckSampledInLockStep() const {
  if (setup_.cluster.replay.size() > 1) {
    return runtime::InvalidArgument(
        "run.deterministic: algorithm " + setup_.algorithm.name +
        " samples from a table, which has to be on one shard; cluster.replay names " +
        std::to_string(setup_.cluster.replay.size()));
  }
  if (setup_.learner.max_lag > 0) {
    return runtime::InvalidArgument(
        "run.deterministic: algorithm " + setup_.algorithm.name +
        " samples from a table, which needs learner.max_lag = 0: what it holds must not depend on "
        "when it hears of a version");
  }
  return absl::OkStatus();
}

absl::Status Learner::CheckAsynchronous() const {
  const LearnerOptions& options = setup_.learner;
  if (setup_.run.deterministic) {
    return runtime::InvalidArgument(
        "run.deterministic: not with learner.gradients = \"asynchronous\", where the order of "
        "updates depends on which rank is quicker");
  }
  if (options.reduction != "socket") {
    return runtime::InvalidArgument(
        "learner.reduction: asynchronous gradients travel over \"socket\", not \"" +
        options.reduction + "\"");
  }
  if (options.verify_ranks) {
    return runtime::InvalidArgument(
        "learner.verify_ranks: ranks with asynchronous gradients have different parameters");
  }
  const CloningOptions& cloning = options.cloning;
  if (!cloning.demonstrations.empty() &&
      (cloning.demonstration_ratio > 0 || cloning.demonstration_coefficient > 0)) {
    return runtime::InvalidArgument(
        "learner.gradients: asynchronous ones are not mixed with demonstrations "
        "(learner.demonstration_ratio, learner.demonstration_coefficient)");
  }
  return absl::OkStatus();
}

RoundOptions Learner::RoundKnobs() const {
  const LearnerOptions& options = setup_.learner;
  return {.share = parts_->share,
          .timeout = milliseconds(options.round_timeout_ms),
          .max_lag = static_cast<std::uint64_t>(options.max_lag),
          .off_policy = parts_->trainer->requirements().off_policy,
          .deterministic = setup_.run.deterministic};
}

absl::Status Learner::BeginExchange() {
  Parts& parts = *parts_;
  const LearnerOptions& options = setup_.learner;
  SHOAL_ASSIGN_OR_RETURN(std::vector<int> sockets, parts.reducer->TakeConnections());
  const std::int64_t own = rank();
  parts.joined = std::exchange(parts.reducer, std::make_unique<collectives::SingleRank>(own));
  const bool divided = parts.checkpoints->folders() > 1;
  SHOAL_ASSIGN_OR_RETURN(parts.checkpoints, MakeCheckpoints());
  // Nothing that other ranks have a part of can be gone back to any more.
  if (divided) SHOAL_RETURN_IF_ERROR(SaveCheckpoint());
  const collectives::ExchangeOptions exchange{
      .limits = {.gradient_size = static_cast<std::size_t>(parts.trainer->gradient_size()),
                 .max_values = 2 * static_cast<std::size_t>(parts.trainer->parameter_count()),
                 .max_note_bytes = kMaxNoteBytes + kMaxNoteBytesOfUnroll * parts.share},
      .max_staleness = static_cast<std::uint64_t>(options.max_gradient_staleness),
      .call_timeout = options.group().call_timeout,
      .progress = setup_.progress};
  int socket = sockets[0];
  if (own == 0) {
    SHOAL_ASSIGN_OR_RETURN(const auto pair, collectives::ConnectedPair());
    sockets[0] = pair[0];
    socket = pair[1];
    parts.holder = std::make_unique<Holder>(*this);
    parts.hub =
        std::make_unique<collectives::GradientHub>(std::move(sockets), exchange, *parts.holder);
  }
  parts.client = std::make_unique<collectives::GradientClient>(socket, own, exchange);
  SHOAL_ASSIGN_OR_RETURN(const model::ComputeDevice device, DeviceOf(options, setup_.local_rank));
  SHOAL_ASSIGN_OR_RETURN(
      auto computes, algorithms::PolicyTrainer::Create(setup_.policy, setup_.algorithm,
                                                       static_cast<std::uint64_t>(setup_.run.seed),
                                                       *parts.reducer, device));
  auto& trainer = own == 0 ? parts.workers_trainer : parts.trainer;
  trainer = std::move(computes);
  SHOAL_ASSIGN_OR_RETURN(
      parts.worker, GradientWorker::Create(
                        {.policy = setup_.policy,
                         .round = RoundKnobs(),
                         .algorithm = setup_.algorithm,
                         .folder = setup_.run.path(),
                         .ledger = {.folder = setup_.run.path(),
                                    .rank = static_cast<int>(own),
                                    .window = static_cast<std::size_t>(options.unroll_id_window)}},
                        {.trainer = *trainer,
                         .client = *parts.client,
                         .sampler = *parts.sampler,
                         .source = *parts.source,
                         .decoder = *parts.decoder,
                         .cloning = parts.cloning.get()}));
  return absl::OkStatus();
}

absl::Status Learner::ShareRecords() {
  Parts& parts = *parts_;
  if (parts.checkpoints->folders() == 1) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(ShareLedger(*parts.reducer, *parts.ledger));
  SHOAL_RETURN_IF_ERROR(ShareQuarantine(*parts.reducer, *parts.quarantine));
  return parts.checkpoints->keeps() ? parts.quarantine->Write() : absl::OkStatus();
}

absl::Status Learner::CloneDemonstrations() {
  Parts& parts = *parts_;
  CloningOptions options = setup_.learner.cloning;
  if (!options.demonstrations.empty()) {
    auto encoder = embedding::OnOwnDevice(options.encoder, setup_.local_rank);
    if (!encoder.ok()) return runtime::Annotate(encoder.status(), "learner.encoder_device");
    options.encoder = *std::move(encoder);
  }
  options.encoder.batch_independent = setup_.run.deterministic;
  options.embedding_cache = options.embedding_cache.In(setup_.run.path());
  SHOAL_ASSIGN_OR_RETURN(parts.cloning,
                         Cloning::Create(options, static_cast<std::uint64_t>(setup_.run.seed),
                                         setup_.policy, *parts.contents));
  if (parts.cloning == nullptr) return absl::OkStatus();
  parts.encoder_version = parts.cloning->demonstrations().encoder_version();
  const auto on_cloned = [&](const algorithms::CloningReport& report) {
    const std::int64_t planned = setup_.learner.cloning.demonstration_updates;
    if (parts.reports != nullptr) parts.reports->RecordCloning(report, planned);
    const bool last = report.cloning == planned;
    if (last || report.cloning % kShownClonings == 0) {
      spdlog::info("event=cloned cloning={} loss={} agreement={}", report.cloning, report.loss,
                   report.agreement);
    }
    const bool save = last || report.cloning % setup_.learner.checkpoint_every_updates == 0;
    return save ? SaveCheckpoint() : absl::OkStatus();
  };
  SHOAL_RETURN_IF_ERROR(
      parts.cloning->Run(*parts.trainer, rank(), parts.reducer->world_size(), on_cloned));
  return CompareRanks("after cloning");
}

absl::Status Learner::MakeDemonstrationTable() {
  Parts& parts = *parts_;
  const CloningOptions& options = setup_.learner.cloning;
  if (options.demonstration_ratio == 0) return absl::OkStatus();
  if (parts.cloning == nullptr) {
    return runtime::InvalidArgument(
        "learner.demonstration_ratio: there are no demonstrations; set learner.demonstrations or "
        "train.demonstration_episodes");
  }
  if (!parts.trainer->requirements().off_policy) {
    return runtime::InvalidArgument("learner.demonstration_ratio: algorithm " +
                                    setup_.algorithm.name +
                                    " trains on what its own policy did alone");
  }
  SHOAL_ASSIGN_OR_RETURN(
      parts.demonstrations,
      DemonstrationTable::Create({.ratio = options.demonstration_ratio,
                                  .length = options.demonstration_length,
                                  .burn_in = setup_.learner.burn_in,
                                  .priority_exponent = options.demonstration_priority_exponent,
                                  .seed = static_cast<std::uint64_t>(setup_.run.seed),
                                  .rank = rank()},
                                 setup_.policy, parts.cloning->demonstrations()));
  return absl::OkStatus();
}

}  // namespace shoal::learner
