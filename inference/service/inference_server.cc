// SPDX-License-Identifier: Apache-2.0
#include "inference/service/inference_server.h"

#include <absl/strings/numbers.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "inference/core/acting_stage.h"
#include "inference/core/admission.h"
#include "inference/service/act_stream.h"
#include "inference/service/intake.h"
#include "inference/service/model_policy.h"
#include "inference/service/replay_sink.h"
#include "inference/service/round_folder.h"
#include "inference/service/spec_check.h"
#include "platform/runtime/log.h"
#include "platform/transport/server.h"
#include "rl/model/compute_devices.h"
#include "rl/model/host_memory.h"
#include "rl/model/safetensors.h"
#include "rl/parameters/fetcher.h"
#include "rl/parameters/subscriber.h"
#include "text/embedding/make_text_encoder.h"

namespace shoal::inference {
namespace {

constexpr PolicySelector kInitial{PolicySelector::Kind::kInitial};

std::size_t Size(std::int64_t value) { return static_cast<std::size_t>(value); }

// The encoder of a policy that observes no contents, which needs no files.
class NoEncoder final : public tokens::TextEncoder {
 public:
  explicit NoEncoder(std::int64_t dimension) : dimension_(dimension) {}
  const std::string& version() const override { return version_; }
  std::int64_t dimension() const override { return dimension_; }
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view>) const override {
    return runtime::FailedPrecondition("this policy observes no contents");
  }

 private:
  const std::string version_ = "none";
  const std::int64_t dimension_;
};

absl::StatusOr<std::unique_ptr<tokens::TextEncoder>> MakeEncoder(const InferenceConfig& config,
                                                                 runtime::Metrics& metrics) {
  if (config.policy.content_fields.empty() && !config.policy.has_candidates()) {
    return std::make_unique<NoEncoder>(config.policy.embedding_size);
  }
  auto own = embedding::OnOwnDevice(config.options.encoder, config.index);
  if (!own.ok()) return runtime::Annotate(own.status(), "inference.encoder_device");
  embedding::EncoderSource source = *std::move(own);
  source.batch_independent = config.run.deterministic;
  SHOAL_ASSIGN_OR_RETURN(
      auto encoder, embedding::MakeTextEncoder(
                        source, config.options.embedding_cache.In(config.run.path()), &metrics));
  std::string knob = "inference.encoder \"" + source.encoder + "\"";
  if (source.has_body_encoder()) knob += " with body_encoder \"" + source.body_encoder + "\"";
  SHOAL_RETURN_IF_ERROR(
      embedding::CheckSizes(*encoder, knob, config.policy.embedding_size, config.policy.body_size));
  if (source.has_gpt2() && config.policy.has_candidates() && config.policy.similarity_size == 0) {
    spdlog::warn(
        "event=similarity_of_language encoder={} reason=\"policy.similarity_size is 0: goals and "
        "candidates are compared by the language model's numbers too, which tell them apart "
        "badly\"",
        runtime::Quoted(source.encoder));
  }
  return encoder;
}

// A language model is slow: it gets small slices and a lower priority than acting.
EncodingOptions EncodingOf(const InferenceOptions& options) {
  EncodingOptions encoding{.max_waiting_bytes = Size(options.waiting_text_bytes)};
  if (options.encoder.has_language_model()) {
    encoding.slice_bytes = std::size_t{16} << 10;
    encoding.nice = 10;
  }
  return encoding;
}

std::string FolderOf(const InferenceConfig& config) {
  if (!config.options.parameters_folder.empty()) return config.options.parameters_folder;
  return config.run.path() + "/inference-" + std::to_string(config.index);
}

std::string NameOf(const InferenceConfig& config) {
  return "inference-" + std::to_string(config.index);
}

TableFactory TablesOf(const model::PolicySpec& policy) {
  return [compared = policy.similarity_size](const runtime::Tensor& embeddings,
                                             std::span<const std::uint32_t> removed,
                                             std::shared_ptr<const model::CandidateTable> base) {
    return model::CandidateTable::Create(embeddings, removed, std::move(base), compared);
  };
}

// What the learner notes in the files of parameters.
struct Notes {
  double environment_steps = 0;
  std::uint64_t update = 0;
  bool checkpoint = false;
};

// What is not noted, or in no form of ours, is 0.
Notes NotesOf(std::string_view parameters_file) {
  Notes notes;
  const auto view = model::SafetensorsView::Parse(parameters_file);
  if (!view.ok()) return notes;
  const auto read = [&](const char* name, double most) {
    const auto noted = view->metadata().find(name);
    double value = 0;
    if (noted == view->metadata().end() || !absl::SimpleAtod(noted->second, &value)) return 0.0;
    return std::isfinite(value) ? std::clamp(value, 0.0, most) : 0.0;
  };
  constexpr double kExactIntegers = 9007199254740992;
  notes.environment_steps = read("environment_steps", std::numeric_limits<double>::max());
  notes.update = static_cast<std::uint64_t>(read("update", kExactIntegers));
  notes.checkpoint = read("checkpoint", 1) > 0;
  return notes;
}

UnrollCut CutOf(const InferenceOptions& options) {
  const bool by_episode = options.unroll_cut == "episode";
  return {.by_episode = by_episode,
          .max_rows = Size(by_episode ? options.max_episode_rows : options.unroll_length),
          .overlap = Size(options.unroll_overlap)};
}

// The share of each replica in a limit of the server.
std::size_t ShareOf(std::size_t limit, std::size_t replicas) {
  return std::max(limit / replicas, std::size_t{1});
}

// Unrolls that have no rows in common gain nothing from chunks but compression.
std::unique_ptr<UnrollChunker> ChunkerOf(const InferenceConfig& config, const UnrollDestination& to,
                                         std::size_t replicas, runtime::Metrics& metrics) {
  const InferenceOptions& options = config.options;
  const bool overlaps = options.unroll_overlap > 0;
  if (!overlaps && options.chunk_compression <= 0) return nullptr;
  const std::int64_t level = options.chunk_compression < 0 ? 1 : options.chunk_compression;
  return std::make_unique<UnrollChunker>(
      UnrollChunkerOptions{
          .to = to,
          .chunk_rows = Size(options.chunk_length),
          .unroll_rows = CutOf(options).max_rows + 1,
          .compression_level = static_cast<int>(level),
          // In lock step the learner waits for these very unrolls, and without
          // overlaps no later unroll has rows for the last chunk.
          .ends_chunks = config.run.deterministic || !overlaps,
          .max_environments = ShareOf(UnrollChunkerOptions{}.max_environments, replicas)},
      metrics);
}

}  // namespace

// The members are in order of creation; each may refer to those above it.
class InferenceServer::Parts {
 public:
  // What acts on one device, in order of creation.
  struct Replica {
    Replica(model::ComputeDevice on, std::size_t index, std::size_t cache_bytes,
            runtime::Metrics& registry)
        : device(std::move(on)),
          cache(std::make_shared<model::SimilarityCache>(cache_bytes)),
          metrics(registry, index) {}

    const model::ComputeDevice device;
    const std::shared_ptr<model::SimilarityCache> cache;
    InferenceMetrics metrics;
    std::unique_ptr<ReplaySink> sink;
    std::unique_ptr<ActEngine> engine;
    std::unique_ptr<ActingStage> acting;
  };

  Parts(InferenceConfig given, std::unique_ptr<tokens::TextEncoder> text_encoder,
        runtime::Metrics& metrics)
      : config(std::move(given)),
        shape(ShapeOf(config.policy, static_cast<std::uint32_t>(config.options.policy_id))),
        encoder(std::move(text_encoder)),
        shared_metrics(metrics),
        contents(encoder->version(), shape.embedding_size,
                 Size(config.options.content_cache_bytes)),
        catalogs(contents, TablesOf(config.policy), Size(config.options.catalog_cache_bytes)),
        provider(contents, catalogs),
        policies(Size(config.options.retained_versions)),
        intake(Size(config.options.max_queued_messages), shape),
        context{config.policy,
                runtime::SystemClock().UnixNanos(),
                encoder->version(),
                Size(config.options.stream_window),
                intake,
                registry},
        service(context) {}

  ~Parts();

  absl::Status Start(runtime::Metrics& metrics);
  // Finds the devices of all replicas. Returns INVALID_ARGUMENT for several in lock step.
  absl::Status FindDevices(runtime::Metrics& metrics);
  void StartReplica(std::size_t index, const ActingStage::Lockstep& lockstep,
                    runtime::Metrics& metrics);
  absl::Status StartParameters(runtime::Metrics& metrics);
  absl::Status Drain(std::chrono::milliseconds grace);
  void TakeParameters(const parameters::Parameters& parameters);
  // Takes the result of a fetch that a row with this selector caused.
  void TakeFetched(const PolicySelector& selector, absl::StatusOr<parameters::Parameters> fetched);
  // Returns null where the policy's environments cannot be kept.
  RoundStates* KeepRounds();
  void KeepInitial(const parameters::Parameters& parameters) const;
  // Puts the version on all devices: as what a row with the selector `asked` for, or as a published
  // one.
  absl::Status PutPolicy(const parameters::Parameters& parameters,
                         const std::optional<PolicySelector>& asked);
  // Holds the run's first version, which is kept apart from the received ones once it is fetched.
  parameters::ParametersFolder InitialFolder() const {
    return parameters::ParametersFolder(FolderOf(config) + "/initial");
  }

  const InferenceConfig config;
  const PolicyShape shape;
  const std::unique_ptr<tokens::TextEncoder> encoder;
  InferenceMetrics shared_metrics;
  embedding::EmbeddingStore contents;
  CatalogStore catalogs;
  StoreProvider provider;
  PolicySet policies;
  std::unique_ptr<parameters::Fetcher> fetcher;
  std::unique_ptr<BatcherSet> batchers;
  std::unique_ptr<replay::client::Inserter> inserter;
  // Only in deterministic mode with a learner.
  std::optional<RoundFolder> rounds;
  // By the places of their devices in inference.device.
  std::vector<std::unique_ptr<Replica>> replicas;
  Intake intake;
  std::unique_ptr<EncodingStage> encoding;
  std::unique_ptr<Admission> admission;
  transport::StreamRegistry registry;
  const ActContext context;
  ActService service;
  std::unique_ptr<transport::Server> server;
  std::unique_ptr<parameters::Subscriber> subscriber;
};

// The streams end first, then the threads that serve them. The fetcher goes after the acting
// threads, which ask it for versions, and before the replicas, on whose devices its thread puts
// them.
InferenceServer::Parts::~Parts() {
  subscriber.reset();
  server.reset();
  intake.Close();
  for (const auto& replica : replicas) replica->acting.reset();
  fetcher.reset();
}

absl::Status InferenceServer::Parts::FindDevices(runtime::Metrics& metrics) {
  const InferenceOptions& options = config.options;
  auto found = model::FindComputeDevices(options.device, config.index);
  if (!found.ok()) return runtime::Annotate(found.status(), "inference.device");
  if (config.run.deterministic && found->size() > 1) {
    return runtime::InvalidArgument(
        "run.deterministic: not with several devices, inference.device = \"" + options.device +
        "\": lock step evaluates all environments in one batch");
  }
  for (model::ComputeDevice& device : *found) {
    auto precise = model::WithPrecision(std::move(device), options.precision, config.policy);
    if (!precise.ok()) return runtime::Annotate(precise.status(), "inference.precision");
    precise->graphs = precise->graphs && options.graphs == "auto";
    metrics.ExposeGpu(precise->name);
    replicas.push_back(std::make_unique<Replica>(*std::move(precise), replicas.size(),
                                                 Size(options.similarity_cache_bytes), metrics));
  }
  batchers = std::make_unique<BatcherSet>(
      replicas.size(), BatcherOptions{.max_rows = Size(options.max_rows),
                                      .max_delay = std::chrono::microseconds(options.max_delay_us),
                                      .max_queued = Size(options.max_queued_rows)});
  return absl::OkStatus();
}

void InferenceServer::Parts::StartReplica(std::size_t index, const ActingStage::Lockstep& lockstep,
                                          runtime::Metrics& metrics) {
  Replica& replica = *replicas[index];
  const UnrollDestination to{.table = config.options.table, .encoder_version = encoder->version()};
  replica.sink = std::make_unique<ReplaySink>(inserter.get(), to,
                                              ChunkerOf(config, to, replicas.size(), metrics));
  replica.engine = std::make_unique<ActEngine>(
      ActOptions{.replica = index,
                 .cut = CutOf(config.options),
                 .exploration = config.options.exploration.exploration(),
                 .priority = config.priority,
                 .frame_memory = model::HostMemoryFor(replica.device),
                 .seed = static_cast<std::uint64_t>(config.run.seed),
                 .max_environments = ShareOf(ActOptions{}.max_environments, replicas.size())},
      shape, policies, *replica.sink, replica.metrics);
  replica.acting = std::make_unique<ActingStage>(
      (*batchers)[index], *replica.engine, policies, replica.metrics, lockstep,
      replicas.size() == 1 ? "act" : "act-" + std::to_string(index));
}

absl::Status InferenceServer::Parts::Start(runtime::Metrics& metrics) {
  SHOAL_RETURN_IF_ERROR(FindDevices(metrics));
  const InferenceOptions& options = config.options;
  SHOAL_RETURN_IF_ERROR(options.Check());
  SHOAL_ASSIGN_OR_RETURN(const std::string listen,
                         ListenAddress(options, config.cluster, config.index));
  if (!config.cluster.replay.empty() || !config.cluster.replay_file.empty()) {
    SHOAL_ASSIGN_OR_RETURN(
        inserter, replay::client::Inserter::Create({.addresses = config.cluster.replay,
                                                    .address_file = config.cluster.replay_file,
                                                    .client = NameOf(config),
                                                    .outbox_items = Size(options.outbox_items),
                                                    .outbox_bytes = Size(options.outbox_bytes),
                                                    .connect = config.connect_replay},
                                                   provider, metrics));
  }
  ActingStage::Lockstep lockstep;
  if (config.run.deterministic) {
    lockstep.environments = Size(options.lockstep_environments);
    lockstep.unrolls = Size(options.lockstep_unrolls);
    lockstep.first_unrolls = Size(options.lockstep_fill_unrolls);
    if (!config.cluster.learner.empty()) lockstep.states = KeepRounds();
  }
  if (inserter) inserter->OnSpace([this] { batchers->Wake(); });
  for (std::size_t i = 0; i < replicas.size(); ++i) StartReplica(i, lockstep, metrics);
  encoding = std::make_unique<EncodingStage>(
      EncodingOf(options), *encoder, contents, [this] { intake.OnEncoded(); }, metrics);
  admission = std::make_unique<Admission>(
      Admission::Parts{shape, contents, catalogs, *encoding, *batchers, shared_metrics},
      Size(options.max_queued_rows));
  intake.Start(*admission);
  SHOAL_ASSIGN_OR_RETURN(
      server, transport::Server::Create(
                  {.listen = listen, .max_message_bytes = options.max_message_bytes}, {&service}));
  return StartParameters(metrics);
}

RoundStates* InferenceServer::Parts::KeepRounds() {
  if (shape.candidates || shape.content_count > 0) {
    spdlog::info(
        "event=environments_not_kept reason=\"the policy observes contents, which are no "
        "part of what could be kept\"");
    return nullptr;
  }
  if (config.options.lockstep_fill_unrolls > 0) {
    spdlog::info(
        "event=environments_not_kept reason=\"what the learner samples from a table is no part of "
        "what could be kept\"");
    return nullptr;
  }
  return &rounds.emplace(FolderOf(config) + "/rounds");
}

absl::Status InferenceServer::Parts::StartParameters(runtime::Metrics& metrics) {
  if (config.cluster.learner.empty()) {
    const parameters::ParametersFolder folder(FolderOf(config));
    SHOAL_ASSIGN_OR_RETURN(const parameters::Parameters newest, folder.LoadNewest());
    TakeFetched(kInitial, folder.LoadInitial());
    TakeParameters(newest);
    return absl::OkStatus();
  }
  SHOAL_ASSIGN_OR_RETURN(
      fetcher, parameters::Fetcher::Create({.address = config.cluster.learner,
                                            .client = NameOf(config),
                                            .spec_digest = config.policy.Digest()},
                                           [this](const parameters::WantedVersion& wanted,
                                                  absl::StatusOr<parameters::Parameters> fetched) {
                                             if (wanted) {
                                               TakeFetched({PolicySelector::Kind::kPinned,
                                                            {wanted->epoch, wanted->step}},
                                                           std::move(fetched));
                                               return;
                                             }
                                             if (fetched.ok()) KeepInitial(*fetched);
                                             TakeFetched(kInitial, std::move(fetched));
                                           }));
  policies.OnMissing([this](const PolicySelector& selector) {
    parameters::WantedVersion wanted;
    if (selector.kind == PolicySelector::Kind::kPinned) {
      wanted = {selector.version.epoch, selector.version.step};
    }
    fetcher->Fetch(wanted);
  });
  auto initial = InitialFolder().LoadNewest();
  if (initial.ok()) TakeFetched(kInitial, std::move(initial));
  SHOAL_ASSIGN_OR_RETURN(
      subscriber,
      parameters::Subscriber::Create(
          {.address = config.cluster.learner,
           .client = NameOf(config),
           // In lock step an older version than the learner's is
           // one of another round.
           .folder = config.run.deterministic ? std::string() : FolderOf(config),
           .keep = Size(config.options.retained_versions),
           .spec_digest = config.policy.Digest()},
          [this](const parameters::Parameters& parameters) { TakeParameters(parameters); },
          metrics));
  return absl::OkStatus();
}

absl::Status InferenceServer::Parts::PutPolicy(const parameters::Parameters& parameters,
                                               const std::optional<PolicySelector>& asked) {
  const VersionedPolicy previous = policies.current();
  const auto* model = static_cast<const ModelPolicy*>(previous.policy.get());
  std::vector<ReplicaMaker> makers;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    makers.push_back([&, i]() -> absl::StatusOr<ModelPolicy::Replica> {
      const Replica& replica = *replicas[i];
      auto policy = model::Policy::FromSafetensors(config.policy, *parameters.bytes,
                                                   model == nullptr ? nullptr : &model->policy(i),
                                                   replica.device);
      if (!policy.ok()) return runtime::Annotate(policy.status(), replica.device.name);
      return ModelPolicy::Replica{*std::move(policy), replica.cache};
    });
  }
  const Notes notes = NotesOf(*parameters.bytes);
  return PutReplicas({.version = {parameters.version.epoch, parameters.version.step},
                      .policy = nullptr,
                      .environment_steps = notes.environment_steps,
                      .update = notes.update,
                      .checkpoint = notes.checkpoint},
                     makers, policies, asked);
}

void InferenceServer::Parts::KeepInitial(const parameters::Parameters& parameters) const {
  const absl::Status saved = InitialFolder().Save(parameters);
  if (saved.ok()) return;
  spdlog::warn("event=parameters_not_saved reason={}", runtime::Quoted(runtime::Message(saved)));
}

void InferenceServer::Parts::TakeFetched(const PolicySelector& selector,
                                         absl::StatusOr<parameters::Parameters> fetched) {
  const absl::Status put = fetched.ok() ? PutPolicy(*fetched, selector) : fetched.status();
  if (put.ok()) return;
  spdlog::warn("event=fetch_failed reason={}", runtime::Quoted(runtime::Message(put)));
  policies.Refuse(selector, put);
}

void InferenceServer::Parts::TakeParameters(const parameters::Parameters& parameters) {
  const absl::Status put = PutPolicy(parameters, /*asked=*/std::nullopt);
  if (!put.ok()) {
    spdlog::error("event=parameters_refused version={} reason={}",
                  parameters::ToString(parameters.version), runtime::Quoted(runtime::Message(put)));
    return;
  }
  // Fetch the run's first version now: the learner may be gone when a row asks for it.
  (void)policies.Select(kInitial);
  const parameters::Version current = policies.current().version;
  shared_metrics.parameter_epoch.Set(static_cast<double>(current.epoch));
  shared_metrics.parameter_step.Set(static_cast<double>(current.step));
  spdlog::debug("event=parameters version={}", parameters::ToString(parameters.version));
  batchers->SetPaused(false);
  batchers->Wake();
  server->SetServing(true);
}

absl::Status InferenceServer::Parts::Drain(std::chrono::milliseconds grace) {
  const runtime::TimePoint deadline = runtime::SystemClock().Now() + grace;
  subscriber.reset();
  server->SetServing(false);
  intake.Drain();
  encoding->Stop();
  admission.reset();
  for (const auto& replica : replicas) replica->acting->Drain();
  registry.DrainAll();
  const bool answered = registry.AwaitEmpty(grace);
  server->Shutdown(runtime::Duration::zero());
  for (const auto& replica : replicas) replica->acting.reset();
  if (inserter) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - runtime::SystemClock().Now());
    SHOAL_RETURN_IF_ERROR(inserter->Drain(std::max(left, std::chrono::milliseconds(0))));
  }
  if (answered) return absl::OkStatus();
  return absl::DeadlineExceededError("streams were still open after the grace period");
}

absl::StatusOr<std::unique_ptr<InferenceServer>> InferenceServer::Create(
    InferenceConfig config, runtime::Metrics& metrics) {
  SHOAL_RETURN_IF_ERROR(config.policy.Validate());
  if (config.run.deterministic && config.options.lockstep_environments == 0) {
    return runtime::InvalidArgument(
        "run.deterministic needs inference.lockstep_environments, the number of train "
        "environments");
  }
  SHOAL_ASSIGN_OR_RETURN(auto encoder, MakeEncoder(config, metrics));
  std::unique_ptr<InferenceServer> server(
      new InferenceServer(std::make_unique<Parts>(std::move(config), std::move(encoder), metrics)));
  SHOAL_RETURN_IF_ERROR(server->parts_->Start(metrics));
  return server;
}

InferenceServer::InferenceServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

InferenceServer::~InferenceServer() = default;

absl::Status InferenceServer::Drain(std::chrono::milliseconds grace) {
  return parts_->Drain(grace);
}

const std::string& InferenceServer::address() const { return parts_->server->address(); }

std::uint64_t InferenceServer::server_epoch() const { return parts_->context.server_epoch; }

}  // namespace shoal::inference
