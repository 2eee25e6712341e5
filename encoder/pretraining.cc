// SPDX-License-Identifier: Apache-2.0
#include "encoder/pretraining.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "encoder/batch_stream.h"
#include "encoder/memory_table.h"
#include "encoder/pretraining_plan.h"
#include "encoder/recent_rate.h"
#include "encoder/training_log.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/process_usage.h"
#include "platform/runtime/stop_signals.h"
#include "rl/collectives/gradient_compression.h"
#include "rl/collectives/rank_times.h"
#include "rl/model/compute_device.h"
#include "rl/model/policy.h"
#include "rl/training/checkpoint.h"
#include "text/dataset/dataset.h"
#include "text/language/gpt2_folder.h"
#include "text/language/language_trainer.h"
#include "text/language/rank_place.h"
#include "text/language/trainer_memory.h"

namespace shoal::encoder {

namespace {

using language::LanguageTrainer;
using language::LossReport;
using nlohmann::json;

constexpr const char* kRunFile = "run.json";
constexpr const char* kProgressFile = "progress.json";

// The state of a run that a checkpoint holds besides the trainer's.
struct Course {
  BatchStream::Position position;
  // Tokens of texts that were trained on, over all ranks.
  std::int64_t tokens = 0;
  double best_loss = std::numeric_limits<double>::infinity();
  std::int64_t evaluations_since_best = 0;
  bool stopped_early = false;
};

// Returns the part of the held-out texts that a rank evaluates.
language::WeightedBatch Measured(const TrainingMaterial& material, std::int64_t at_most,
                                 const PretrainingPlan& plan, const language::RankPlace& place) {
  std::int64_t tokens = 0;
  for (const Chunk& chunk : material.held_out) {
    tokens += static_cast<std::int64_t>(chunk.tokens.size());
  }
  const auto every = static_cast<std::size_t>(
      at_most > 0 ? std::max<std::int64_t>(1, (tokens + at_most - 1) / at_most) : 1);
  std::vector<BatchStream::Item> items;
  runtime::Random no_draws(0);
  for (std::size_t i = 0; i < material.held_out.size(); i += every) {
    const Chunk& chunk = material.held_out[i];
    items.push_back({chunk, plan.evaluation.Mask(chunk, no_draws)});
  }
  return PartOf(items, place.data_rank, place.data_ranks, plan.attention);
}

class Pretraining {
 public:
  Pretraining(const PretrainingOptions& options, const TrainingMaterial& material,
              PretrainingPlan plan, std::unique_ptr<LanguageTrainer> trainer,
              collectives::GradientReducer& reducer, const std::function<bool()>& stop)
      : options_(options),
        material_(material),
        plan_(std::move(plan)),
        reducer_(reducer),
        stop_(stop),
        identity_(
            json{{"options", json::parse(options.Identity())}, {"texts", material.fingerprint}}),
        place_(language::PlaceOf(reducer.rank(), reducer.world_size(), options.tensor_parallel)),
        measured_(Measured(material, options.evaluate_tokens, plan_, place_)),
        trainer_(std::move(trainer)) {}

  // Goes on from the latest checkpoint, if there is one, to the end of the run.
  absl::Status Train();
  std::string Summary() const;
  // Empty when the run came to its end.
  std::string HowToGoOn() const;

 private:
  bool writes() const { return reducer_.rank() == 0; }
  bool over() const { return Done() >= 1 || course_.stopped_early; }
  double Done() const;
  std::string CheckpointsFolder() const { return options_.output + "/checkpoints"; }

  // Reads the latest checkpoint, if there is one.
  absl::Status Begin();
  absl::Status Run();
  absl::Status Restore(const training::Checkpoint& checkpoint);
  absl::Status AgreeOnStep();
  absl::Status AgreeToStop();
  absl::Status Step();
  absl::Status Evaluate();
  absl::Status WriteModel();
  absl::Status WriteCheckpoint();

  const PretrainingOptions& options_;
  const TrainingMaterial& material_;
  const PretrainingPlan plan_;
  collectives::GradientReducer& reducer_;
  const std::function<bool()>& stop_;
  const json identity_;
  const language::RankPlace place_;
  const language::WeightedBatch measured_;
  const std::unique_ptr<LanguageTrainer> trainer_;
  std::unique_ptr<BatchStream> stream_;
  // Null on all ranks but 0.
  std::unique_ptr<TrainingLog> log_;
  RecentRate rate_;
  Course course_;
  LossReport trained_;
  LossReport held_out_;
  bool stopped_ = false;
};

double Pretraining::Done() const {
  if (options_.tokens > 0) {
    return static_cast<double>(course_.tokens) / static_cast<double>(options_.tokens);
  }
  return options_.steps > 0
             ? static_cast<double>(trainer_->steps()) / static_cast<double>(options_.steps)
             : stream_->epochs() / static_cast<double>(options_.epochs);
}

absl::Status Pretraining::Restore(const training::Checkpoint& checkpoint) {
  const auto found = checkpoint.files.find(kProgressFile);
  const json read = found == checkpoint.files.end()
                        ? json()
                        : json::parse(found->second.Joined().bytes, nullptr, false);
  if (!read.is_object()) {
    return runtime::DataLoss(CheckpointsFolder() + ": " + kProgressFile + " is no object");
  }
  const json& was = read.at("run");
  if (was != identity_) {
    for (const auto& difference : json::diff(was, identity_)) {
      return runtime::FailedPrecondition(options_.output + " holds a run with another " +
                                         difference.at("path").get<std::string>().substr(1) +
                                         "; choose another --output");
    }
  }
  SHOAL_RETURN_IF_ERROR(trainer_->Restore(checkpoint));
  course_.position = {read.at("epoch").get<std::int64_t>(), read.at("chunk").get<std::int64_t>()};
  course_.tokens = read.at("tokens").get<std::int64_t>();
  const json& best = read.at("best_loss");
  if (!best.is_null()) course_.best_loss = best.get<double>();
  course_.evaluations_since_best = read.at("evaluations_since_best").get<std::int64_t>();
  course_.stopped_early = read.at("stopped_early").get<bool>();
  if (course_.position.epoch < 0 || course_.position.chunk < 0 ||
      course_.position.chunk >= static_cast<std::int64_t>(material_.training.size())) {
    return runtime::DataLoss(CheckpointsFolder() + ": " + kProgressFile + " is out of range");
  }
  return absl::OkStatus();
}

// Ranks that read different checkpoints would train different models.
absl::Status Pretraining::AgreeOnStep() {
  const auto own = static_cast<double>(trainer_->steps());
  double least = own;
  double most = own;
  SHOAL_RETURN_IF_ERROR(reducer_.AllReduceMin(std::span(&least, 1)));
  SHOAL_RETURN_IF_ERROR(reducer_.AllReduceMax(std::span(&most, 1)));
  if (least == most) return absl::OkStatus();
  return runtime::FailedPrecondition("ranks see different checkpoints in " + CheckpointsFolder());
}

// A signal may reach one rank a step before another.
absl::Status Pretraining::AgreeToStop() {
  double stops = stop_() ? 1 : 0;
  SHOAL_RETURN_IF_ERROR(reducer_.AllReduceMax(std::span(&stops, 1)));
  stopped_ = stops > 0;
  return absl::OkStatus();
}

absl::Status Pretraining::Begin() {
  const auto checkpoint = training::ReadNewestCheckpoint(CheckpointsFolder());
  if (checkpoint.ok()) {
    if (!options_.resume) {
      return runtime::FailedPrecondition(options_.output + " holds a run; --resume continues it");
    }
    try {
      SHOAL_RETURN_IF_ERROR(Restore(*checkpoint));
    } catch (const json::exception& error) {
      return runtime::DataLoss(CheckpointsFolder() + ": " + kProgressFile + ": " + error.what());
    }
  } else if (!absl::IsNotFound(checkpoint.status())) {
    return checkpoint.status();
  }
  stream_ = std::make_unique<BatchStream>(material_.training, options_.seed, course_.position);
  SHOAL_RETURN_IF_ERROR(AgreeOnStep());
  if (!writes()) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(
      runtime::WriteFileAtomically(options_.output + "/" + kRunFile, identity_.dump(2) + "\n"));
  SHOAL_ASSIGN_OR_RETURN(
      log_, TrainingLog::Open(options_.output, trainer_->steps(), runtime::SystemClock()));
  return absl::OkStatus();
}

absl::Status Pretraining::Step() {
  const double before = Done();
  const Curriculum::Stage& stage = plan_.loss.At(before);
  const std::int64_t left = options_.tokens > 0 ? options_.tokens - course_.tokens
                                                : std::numeric_limits<std::int64_t>::max();
  const auto items = stream_->Next(stage.choice, std::min(options_.batch_tokens, left));
  if (items.empty()) {
    return runtime::InvalidArgument("no text to train on has a token of '" + stage.name + "'");
  }
  course_.tokens += TokensOf(items);
  const double after =
      options_.steps > 0 ? before + 1 / static_cast<double>(options_.steps) : Done();
  const double learning_rate = plan_.rate.At((before + after) / 2);
  const language::WeightedBatch part =
      PartOf(items, place_.data_rank, place_.data_ranks, plan_.attention);
  collectives::RankStopwatch stopwatch(reducer_, runtime::SystemClock());
  SHOAL_ASSIGN_OR_RETURN(const language::StepReport report, trainer_->Step(part, learning_rate));
  SHOAL_ASSIGN_OR_RETURN(
      collectives::RankTimes times,
      stopwatch.Stop(static_cast<double>(part.tokens.tokens()), report.overlapped_seconds));
  trained_ = report.loss;
  course_.position = stream_->position();
  rate_.Add(runtime::SystemClock().Now(), TokensOf(items), Done());
  if (log_ == nullptr) return absl::OkStatus();
  return log_->AddStep({.report = report,
                        .epochs = stream_->epochs(),
                        .tokens = course_.tokens,
                        .learning_rate = learning_rate,
                        .stage = stage.name,
                        .tokens_per_second = rate_.tokens_per_second(),
                        .done = Done(),
                        .seconds_left = rate_.seconds_left(),
                        .ranks = std::move(times)});
}

absl::Status Pretraining::Evaluate() {
  if (material_.held_out.empty()) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(held_out_, trainer_->Evaluate(measured_));
  if (log_ != nullptr) {
    SHOAL_RETURN_IF_ERROR(log_->AddEvaluation(trainer_->steps(), held_out_));
  }
  if (held_out_.loss < course_.best_loss - options_.least_improvement) {
    course_.best_loss = held_out_.loss;
    course_.evaluations_since_best = 0;
    return WriteModel();
  }
  ++course_.evaluations_since_best;
  course_.stopped_early =
      options_.patience > 0 && course_.evaluations_since_best >= options_.patience;
  return absl::OkStatus();
}

absl::Status Pretraining::WriteModel() {
  SHOAL_ASSIGN_OR_RETURN(const language::Gpt2Parameters parameters,
                         trainer_->Parameters(training::Receivers::kRankZero));
  SHOAL_ASSIGN_OR_RETURN(const auto adapter, trainer_->Adapter());
  if (!writes()) return absl::OkStatus();
  const std::string folder = options_.output + "/model";
  SHOAL_RETURN_IF_ERROR(
      language::WriteGpt2Folder(folder, parameters.config, parameters.flat, plan_.weights));
  if (adapter) {
    SHOAL_RETURN_IF_ERROR(
        language::WriteLora(options_.output + "/adapter.safetensors", parameters.config, *adapter));
  }
  if (material_.tokenizer.empty()) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const std::string tokenizer, runtime::ReadFile(material_.tokenizer));
  return runtime::WriteFileAtomically(folder + "/tokenizer.json", tokenizer);
}

absl::Status Pretraining::WriteCheckpoint() {
  if (material_.held_out.empty()) SHOAL_RETURN_IF_ERROR(WriteModel());
  training::Checkpoint checkpoint{trainer_->steps(), {}};
  SHOAL_RETURN_IF_ERROR(trainer_->Save(checkpoint));
  if (!writes()) return absl::OkStatus();
  json progress = {{"run", identity_},
                   {"epoch", course_.position.epoch},
                   {"chunk", course_.position.chunk},
                   {"tokens", course_.tokens},
                   {"best_loss", nullptr},
                   {"evaluations_since_best", course_.evaluations_since_best},
                   {"stopped_early", course_.stopped_early}};
  if (std::isfinite(course_.best_loss)) progress["best_loss"] = course_.best_loss;
  checkpoint.files[kProgressFile] = progress.dump(2) + "\n";
  SHOAL_RETURN_IF_ERROR(
      training::WriteCheckpoint(CheckpointsFolder(), checkpoint, options_.keep_checkpoints));
  return log_->WriteReport(identity_.dump(2), "");
}

absl::Status Pretraining::Run() {
  rate_.Start(runtime::SystemClock().Now(), Done());
  while (!over()) {
    SHOAL_RETURN_IF_ERROR(AgreeToStop());
    if (stopped_) return WriteCheckpoint();
    SHOAL_RETURN_IF_ERROR(Step());
    if (trainer_->steps() % options_.evaluate_every == 0 || over()) {
      SHOAL_RETURN_IF_ERROR(Evaluate());
    }
    if (trainer_->steps() % options_.checkpoint_every == 0 || over()) {
      SHOAL_RETURN_IF_ERROR(WriteCheckpoint());
    }
    rate_.Skip(runtime::SystemClock().Now());
  }
  return writes() ? log_->WriteReport(identity_.dump(2), Summary()) : absl::OkStatus();
}

absl::Status Pretraining::Train() {
  absl::Status end = Begin();
  if (end.ok()) end = Run();
  if (!end.ok()) trainer_->Abort(end);
  return end;
}

std::string Pretraining::HowToGoOn() const {
  if (!stopped_) return "";
  return absl::StrFormat("stopped after step %d; with --resume the same command goes on from there",
                         trainer_->steps());
}

std::string Pretraining::Summary() const {
  std::string line = absl::StrFormat("steps=%d epochs=%.2f tokens=%d", trainer_->steps(),
                                     stream_->epochs(), course_.tokens);
  if (trained_.targets > 0) line += absl::StrFormat(" loss=%.4f", trained_.loss);
  if (held_out_.targets > 0) {
    line += absl::StrFormat(" held_out_loss=%.4f held_out_perplexity=%.2f held_out_accuracy=%.4f",
                            held_out_.loss, held_out_.perplexity, held_out_.accuracy);
  }
  if (course_.stopped_early) line += " stopped=early";
  return line + absl::StrFormat(" tokens_per_second=%.0f model=%s/model", rate_.overall(),
                                options_.output);
}

}  // namespace

absl::Status Pretrain(const PretrainingOptions& options, const TrainingMaterial& material,
                      collectives::GradientReducer& reducer, const std::function<bool()>& stop,
                      std::ostream& out) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  if (material.training.empty()) return runtime::InvalidArgument("there is no text to train on");
  SHOAL_ASSIGN_OR_RETURN(PretrainingPlan plan, PretrainingPlan::Of(options));
  SHOAL_ASSIGN_OR_RETURN(const auto trainer_options, TrainerOptionsOf(options));
  if (options.model.empty()) {
    // Before parameters are drawn, which takes minutes for a large model.
    SHOAL_ASSIGN_OR_RETURN(const auto config, ConfigOf(options, material.vocabulary_size));
    SHOAL_RETURN_IF_ERROR(trainer_options.ValidateFor(config, reducer.world_size()));
  }
  SHOAL_ASSIGN_OR_RETURN(auto start, StartOf(options, material));
  SHOAL_ASSIGN_OR_RETURN(auto trainer,
                         LanguageTrainer::Create(std::move(start), trainer_options, reducer));
  Pretraining pretraining(options, material, std::move(plan), std::move(trainer), reducer, stop);
  SHOAL_RETURN_IF_ERROR(pretraining.Train());
  if (reducer.rank() != 0) return absl::OkStatus();
  out << pretraining.Summary() << std::endl;
  if (const std::string line = pretraining.HowToGoOn(); !line.empty()) out << line << std::endl;
  return absl::OkStatus();
}

namespace {

absl::Status AtLeast(const char* flag, std::int64_t value, std::int64_t least) {
  if (value >= least) return absl::OkStatus();
  return runtime::InvalidArgument(std::string(flag) + " " + std::to_string(value) +
                                  " is less than " + std::to_string(least));
}

collectives::CompressionRequest CompressionOf(const PretrainingOptions& options) {
  return {.value = options.compress,
          .name = "--compress",
          .reduction_name = "--reduction",
          .ring_name = "--ring-min-bytes",
          .obstacle = options.zero_stage > 1
                          ? "needs --zero-stage 0 or 1, since what rounding takes is as large as "
                            "the gradients that the others divide"
                          : ""};
}

}  // namespace

absl::StatusOr<runtime::DType> PretrainingOptions::WeightsType() const {
  if (weights == "float32") return runtime::DType::kFloat32;
  if (weights == "float16") return runtime::DType::kFloat16;
  if (weights == "bfloat16") return runtime::DType::kBFloat16;
  return runtime::InvalidArgument("--weights '" + weights +
                                  "' is none of float32, float16, bfloat16");
}

absl::Status PretrainingOptions::Validate() const {
  SHOAL_RETURN_IF_ERROR(AtLeast("--tokens", tokens, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--steps", steps, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--epochs", epochs, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--batch-tokens", batch_tokens, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--evaluate-every", evaluate_every, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--checkpoint-every", checkpoint_every, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--keep-checkpoints", keep_checkpoints, 1));
  SHOAL_RETURN_IF_ERROR(AtLeast("--patience", patience, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--lora-rank", lora_rank, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--threads", threads, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--tensor-parallel", tensor_parallel, 1));
  if (tensor_parallel > 1 && group.reduction != collectives::Reduction::kSocket) {
    return runtime::InvalidArgument("--tensor-parallel " + std::to_string(tensor_parallel) +
                                    " needs --reduction socket");
  }
  SHOAL_RETURN_IF_ERROR(AtLeast("--zero-stage", zero_stage, 0));
  if (zero_stage > 3) {
    return runtime::InvalidArgument("--zero-stage " + std::to_string(zero_stage) +
                                    " is none of 0, 1, 2, 3");
  }
  SHOAL_RETURN_IF_ERROR(collectives::CheckCompression(CompressionOf(*this), group));
  SHOAL_RETURN_IF_ERROR(AtLeast("--positions", positions, 0));
  SHOAL_RETURN_IF_ERROR(AtLeast("--evaluate-tokens", evaluate_tokens, 0));
  if (tokens > 0 && steps > 0) {
    return runtime::InvalidArgument("--tokens and --steps are two ways to say the same");
  }
  if (!(least_improvement >= 0 && std::isfinite(least_improvement))) {
    return runtime::InvalidArgument("--least-improvement is negative or not finite");
  }
  if (patience > 0 && hold_out.empty()) {
    return runtime::InvalidArgument("--patience needs --hold-out");
  }
  return absl::OkStatus();
}

std::string PretrainingOptions::Identity() const {
  nlohmann::json identity{{"preset", preset},
                          {"model", model},
                          {"positions", positions},
                          {"hold_out", hold_out},
                          {"tokens", tokens},
                          {"steps", steps},
                          {"epochs", epochs},
                          {"batch_tokens", batch_tokens},
                          {"loss", loss},
                          {"attention", attention},
                          {"evaluate_on", evaluate_on},
                          {"evaluate_tokens", evaluate_tokens},
                          {"optimiser", optimiser},
                          {"learning_rate", learning_rate},
                          {"schedule", schedule},
                          {"warmup", warmup},
                          {"floor", floor},
                          {"beta1", beta1},
                          {"beta2", beta2},
                          {"weight_decay", weight_decay},
                          {"max_gradient_norm", max_gradient_norm},
                          {"lora_rank", lora_rank},
                          {"lora_alpha", lora_alpha},
                          {"evaluate_every", evaluate_every},
                          {"patience", patience},
                          {"least_improvement", least_improvement},
                          {"seed", seed},
                          {"bfloat16", bfloat16}};
  // Runs that were begun before there was a choice go on.
  if (compress != "none") identity["compress"] = compress;
  return identity.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace {

absl::StatusOr<TrainingMaterial> Divide(const dataset::Dataset& data,
                                        const PretrainingOptions& options) {
  const std::set<std::string> wanted(options.hold_out.begin(), options.hold_out.end());
  std::set<std::string> found;
  TrainingMaterial material;
  material.vocabulary_size = data.manifest().vocabulary_size;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const Chunk chunk{data.tokens(i), data.spans(i)};
    if (chunk.tokens.empty()) continue;
    material.longest = std::max(material.longest, static_cast<std::int64_t>(chunk.tokens.size()));
    const bool held_out = wanted.contains(data.capture(i));
    if (held_out) found.insert(data.capture(i));
    (held_out ? material.held_out : material.training).push_back(chunk);
  }
  for (const std::string& name : wanted) {
    if (!found.contains(name)) {
      return runtime::NotFound(options.dataset + " has no text of a capture '" + name + "'");
    }
  }
  const auto file = data.manifest().files.find(dataset::kChunksFile);
  if (file != data.manifest().files.end()) material.fingerprint = file->second.sha256;
  const auto tokenizer = std::filesystem::path(options.dataset) / dataset::kTokenizerFile;
  std::error_code error;
  if (std::filesystem::exists(tokenizer, error)) material.tokenizer = tokenizer.string();
  return material;
}

int ThreadsOf(const PretrainingOptions& options, std::int64_t ranks) {
  if (options.threads > 0) return options.threads;
  const auto processors = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  return static_cast<int>(std::max<std::int64_t>(1, processors / ranks));
}

absl::StatusOr<std::unique_ptr<collectives::GradientReducer>> Join(
    const PretrainingOptions& options) {
  collectives::GroupOptions group = options.group;
  group.find_gpu = [&](std::int64_t local_rank) -> absl::StatusOr<std::int64_t> {
    auto gpu = model::FindGpu(options.device, local_rank);
    if (gpu.ok()) return gpu;
    return runtime::Annotate(gpu.status(), "--reduction nccl, --device");
  };
  return collectives::JoinGroup(group);
}

}  // namespace

absl::Status TrainOnDataset(const PretrainingOptions& options, std::ostream& out) {
  SHOAL_ASSIGN_OR_RETURN(const auto data, dataset::Dataset::Open(options.dataset));
  SHOAL_ASSIGN_OR_RETURN(const TrainingMaterial material, Divide(*data, options));
  SHOAL_ASSIGN_OR_RETURN(const auto reducer, Join(options));
  const runtime::StopSignals signals;
  model::SetTorchThreads(ThreadsOf(options, reducer->world_size()));
  if (reducer->rank() == 0) {
    out << options.dataset << ": texts=" << material.training.size()
        << " held_out=" << material.held_out.size() << " vocabulary=" << material.vocabulary_size
        << " ranks=" << reducer->world_size() << " zero_stage=" << options.zero_stage
        << " tensor_parallel=" << options.tensor_parallel << std::endl;
  }
  const absl::Status end = Pretrain(
      options, material, *reducer, [&] { return signals.pending(); }, out);
  if (!end.ok()) reducer->Abort(end);
  return end;
}

absl::Status PrintMemory(const PretrainingOptions& options, const MemoryRequest& request,
                         std::ostream& out) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  const std::int64_t ranks = request.ranks;
  SHOAL_RETURN_IF_ERROR(AtLeast("--plan-memory", ranks, 1));
  std::int64_t vocabulary = 0;
  if (!options.dataset.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const auto data, dataset::Dataset::Open(options.dataset));
    vocabulary = data->manifest().vocabulary_size;
  } else if (options.model.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const auto preset, language::Gpt2Config::Preset(options.preset));
    vocabulary = preset.vocabulary_size;
  }
  SHOAL_ASSIGN_OR_RETURN(const language::Gpt2Config config, ConfigOf(options, vocabulary));
  SHOAL_ASSIGN_OR_RETURN(const auto trainer, TrainerOptionsOf(options));
  SHOAL_RETURN_IF_ERROR(trainer.ValidateFor(config, ranks));
  const std::int64_t parts = ranks / options.tensor_parallel;
  const language::TrainerPlaces places{.ranks = ranks,
                                       .threads = ThreadsOf(options, ranks),
                                       .batch_tokens = (options.batch_tokens + parts - 1) / parts};
  if (request.json) {
    out << ToJson(language::EstimateTrainerMemory(config, trainer, places)) << std::endl;
    return absl::OkStatus();
  }
  if (request.gibibytes <= 0 && trainer.device != "cpu") {
    return runtime::InvalidArgument("--plan-memory on a GPU needs its --device-memory");
  }
  const auto bytes = request.gibibytes > 0
                         ? static_cast<std::int64_t>(request.gibibytes * 1024 * 1024 * 1024)
                         : runtime::MachineBytes() / ranks;
  const MemoryTable table = TabulateMemory(config, trainer, places, bytes);
  out << table.text << std::flush;
  return table.fits ? absl::OkStatus()
                    : absl::ResourceExhaustedError("a rank's trainer does not fit");
}

}  // namespace shoal::encoder
