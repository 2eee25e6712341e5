// SPDX-License-Identifier: Apache-2.0
#include "encoder/state_training.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "encoder/state_views.h"
#include "platform/display/live_line.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/stop_signals.h"
#include "rl/model/policy.h"
#include "rl/training/checkpoint.h"
#include "rl/training/schedule.h"
#include "text/embedding/make_text_encoder.h"
#include "text/language/state_trainer.h"

namespace shoal::encoder {
namespace {

using language::StateBatch;
using language::StateReport;
using language::StateTrainer;
using nlohmann::json;

constexpr const char* kStateRunFile = "run.json";
constexpr const char* kStateProgressFile = "progress.json";
constexpr std::chrono::seconds kLineInterval{5};
constexpr std::int64_t kKeptCheckpoints = 2;
// The bodies whose segments give the mean and deviation of hidden states.
constexpr std::size_t kMeasuredBodies = 64;

absl::StatusOr<StateBatch> BatchOf(StateViews views, const embedding::LanguageStates& base) {
  const std::vector<std::string_view> texts(views.segments.begin(), views.segments.end());
  StateBatch batch;
  SHOAL_ASSIGN_OR_RETURN(batch.segments, base.Of(texts));
  for (const StateViews::Use& use : views.uses) batch.uses.push_back({use.segment, use.weight});
  batch.ends = std::move(views.ends);
  batch.partners = std::move(views.partners);
  return batch;
}

StateViewOptions ViewsOf(const StateTrainingOptions& options) {
  return {.bodies = static_cast<std::size_t>(options.bodies),
          .of_one_type = static_cast<std::size_t>(options.of_one_type),
          .left_out = options.left_out,
          .body_bytes = static_cast<std::size_t>(options.body_bytes)};
}

json FigureRow(std::int64_t step, const std::string& prefix, const StateReport& report) {
  return {{"step", step},
          {prefix + "loss", report.loss},
          {prefix + "reconstruction", report.reconstruction},
          {prefix + "contrast", report.contrast},
          {prefix + "accuracy", report.accuracy}};
}

class StateTraining {
 public:
  StateTraining(const StateTrainingOptions& options, const embedding::LanguageStates& base,
                std::span<const json* const> training, std::span<const json* const> held_out,
                json identity)
      : options_(options),
        base_(base),
        identity_(std::move(identity)),
        views_(training, ViewsOf(options), options.seed),
        line_(kLineInterval, runtime::SystemClock()) {
    if (!held_out.empty()) held_out_views_.emplace(held_out, ViewsOf(options), options.seed);
  }

  absl::Status Begin();
  // Returns false when `stop` ended the run.
  absl::StatusOr<bool> Run(const std::function<bool()>& stop);
  std::string Summary() const;

 private:
  std::string CheckpointsFolder() const { return options_.output + "/checkpoints"; }
  std::string MetricsFile() const { return options_.output + "/metrics.jsonl"; }
  absl::Status Restore(const training::Checkpoint& checkpoint);
  // Opens metrics.jsonl behind the rows up to the current step.
  absl::Status OpenMetrics();
  absl::Status AddRow(const json& row);
  absl::Status MeasureBase();
  absl::Status Step();
  absl::Status Measure();
  absl::Status Evaluate();
  absl::Status WriteCheckpoint();

  const StateTrainingOptions& options_;
  const embedding::LanguageStates& base_;
  const json identity_;
  const StateViewSource views_;
  std::optional<StateViewSource> held_out_views_;
  std::vector<StateBatch> evaluation_;
  std::unique_ptr<StateTrainer> trainer_;
  std::ofstream metrics_;
  display::LiveLine line_;
  StateReport trained_;
  StateReport measured_;
  double tokens_per_second_ = 0;
};

absl::Status StateTraining::Restore(const training::Checkpoint& checkpoint) {
  const auto found = checkpoint.files.find(kStateProgressFile);
  const json read = found == checkpoint.files.end()
                        ? json()
                        : json::parse(found->second.Joined().bytes, nullptr, false);
  if (!read.is_object() || !read.contains("run")) {
    return runtime::DataLoss(CheckpointsFolder() + ": " + kStateProgressFile + " has no run");
  }
  for (const auto& difference : json::diff(read["run"], identity_)) {
    return runtime::FailedPrecondition(options_.output + " holds a run with another " +
                                       difference.at("path").get<std::string>().substr(1) +
                                       "; choose another --output");
  }
  return trainer_->Restore(checkpoint);
}

absl::Status StateTraining::OpenMetrics() {
  std::string kept;
  const auto text = runtime::ReadFile(MetricsFile());
  if (text.ok()) {
    std::istringstream lines(*text);
    for (std::string row; std::getline(lines, row);) {
      const json parsed = json::parse(row, nullptr, false);
      const bool counts = parsed.is_object() && parsed.contains("step") &&
                          parsed["step"].is_number_integer() &&
                          parsed["step"].get<std::int64_t>() <= trainer_->steps();
      if (counts) kept += row + "\n";
    }
  } else if (!absl::IsNotFound(text.status())) {
    return text.status();
  }
  SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(MetricsFile(), kept));
  metrics_.open(MetricsFile(), std::ios::binary | std::ios::app);
  return metrics_ ? absl::OkStatus() : runtime::Internal("cannot write " + MetricsFile());
}

absl::Status StateTraining::AddRow(const json& row) {
  metrics_ << row.dump() << '\n' << std::flush;
  return metrics_ ? absl::OkStatus() : runtime::Internal("cannot write " + MetricsFile());
}

absl::Status StateTraining::MeasureBase() {
  const std::vector<std::string> segments = views_.SomeSegments(kMeasuredBodies);
  const std::vector<std::string_view> texts(segments.begin(), segments.end());
  SHOAL_ASSIGN_OR_RETURN(const language::HiddenTexts hidden, base_.Of(texts));
  return trainer_->Measure(hidden);
}

absl::Status StateTraining::Begin() {
  SHOAL_ASSIGN_OR_RETURN(
      trainer_, StateTrainer::Create({.base = options_.base,
                                      .base_version = base_.version(),
                                      .layer = base_.layer(),
                                      .width = base_.width(),
                                      .channels = options_.channels,
                                      .kernel = options_.kernel,
                                      .layers = options_.layers,
                                      .latent = options_.latent},
                                     {.seed = options_.seed,
                                      .reconstruction_weight = options_.reconstruction_weight,
                                      .contrast_weight = options_.contrast_weight,
                                      .temperature = options_.temperature}));
  const auto checkpoint = training::ReadNewestCheckpoint(CheckpointsFolder());
  if (checkpoint.ok()) {
    if (!options_.resume) {
      return runtime::FailedPrecondition(options_.output + " holds a run; --resume continues it");
    }
    SHOAL_RETURN_IF_ERROR(Restore(*checkpoint));
  } else if (absl::IsNotFound(checkpoint.status())) {
    SHOAL_RETURN_IF_ERROR(MeasureBase());
  } else {
    return checkpoint.status();
  }
  SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(options_.output + "/" + kStateRunFile,
                                                     identity_.dump(2) + "\n"));
  if (held_out_views_) {
    for (std::int64_t i = 0; i < options_.evaluate_batches; ++i) {
      SHOAL_ASSIGN_OR_RETURN(
          evaluation_.emplace_back(),
          BatchOf(held_out_views_->Draw("evaluation", static_cast<std::uint64_t>(i)), base_));
    }
  }
  return OpenMetrics();
}

absl::Status StateTraining::Step() {
  const runtime::TimePoint begin = runtime::SystemClock().Now();
  SHOAL_ASSIGN_OR_RETURN(
      const StateBatch batch,
      BatchOf(views_.Draw("training", static_cast<std::uint64_t>(trainer_->steps())), base_));
  const training::RateSchedule schedule{
      .peak = options_.learning_rate, .warmup = options_.warmup, .floor = options_.floor};
  const double learning_rate = schedule.At((static_cast<double>(trainer_->steps()) + 0.5) /
                                           static_cast<double>(options_.steps));
  SHOAL_ASSIGN_OR_RETURN(trained_, trainer_->Step(batch, learning_rate));
  const std::chrono::duration<double> elapsed = runtime::SystemClock().Now() - begin;
  tokens_per_second_ =
      static_cast<double>(batch.segments.starts.back()) / std::max(elapsed.count(), 1e-9);
  line_.Show([&](auto) {
    return absl::StrFormat(
        "step %d of %d  loss %.4f  reconstruction %.4f  contrast %.4f  accuracy %.3f  %.0f "
        "tokens/s",
        trained_.step, options_.steps, trained_.loss, trained_.reconstruction, trained_.contrast,
        trained_.accuracy, tokens_per_second_);
  });
  json row = FigureRow(trained_.step, "", trained_);
  row["gradient_norm"] = trained_.gradient_norm;
  row["learning_rate"] = learning_rate;
  row["tokens_per_second"] = std::round(tokens_per_second_);
  return AddRow(row);
}

// Fills in `measured_`.
absl::Status StateTraining::Measure() {
  measured_ = {};
  const double share = 1 / static_cast<double>(evaluation_.size());
  for (const StateBatch& batch : evaluation_) {
    SHOAL_ASSIGN_OR_RETURN(const StateReport report, trainer_->Evaluate(batch));
    measured_.loss += share * report.loss;
    measured_.reconstruction += share * report.reconstruction;
    measured_.contrast += share * report.contrast;
    measured_.accuracy += share * report.accuracy;
  }
  return absl::OkStatus();
}

absl::Status StateTraining::Evaluate() {
  if (evaluation_.empty()) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(Measure());
  line_.Note(absl::StrFormat(
      "step %d  held out: loss %.4f  reconstruction %.4f  contrast %.4f  accuracy %.3f",
      trainer_->steps(), measured_.loss, measured_.reconstruction, measured_.contrast,
      measured_.accuracy));
  return AddRow(FigureRow(trainer_->steps(), "held_out_", measured_));
}

absl::Status StateTraining::WriteCheckpoint() {
  const language::StateParameters parameters = trainer_->Parameters();
  SHOAL_RETURN_IF_ERROR(
      language::WriteStateFolder(options_.output + "/model", parameters.config, parameters.flat));
  training::Checkpoint checkpoint{trainer_->steps(), {}};
  trainer_->Save(checkpoint);
  checkpoint.files[kStateProgressFile] = json{{"run", identity_}}.dump(2) + "\n";
  return training::WriteCheckpoint(CheckpointsFolder(), checkpoint, kKeptCheckpoints);
}

absl::StatusOr<bool> StateTraining::Run(const std::function<bool()>& stop) {
  // A run that was over already is measured again.
  if (trainer_->steps() >= options_.steps) SHOAL_RETURN_IF_ERROR(Measure());
  while (trainer_->steps() < options_.steps) {
    if (stop()) {
      SHOAL_RETURN_IF_ERROR(WriteCheckpoint());
      return false;
    }
    SHOAL_RETURN_IF_ERROR(Step());
    const bool over = trainer_->steps() == options_.steps;
    if (over || trainer_->steps() % options_.evaluate_every == 0) {
      SHOAL_RETURN_IF_ERROR(Evaluate());
    }
    if (over || trainer_->steps() % options_.checkpoint_every == 0) {
      SHOAL_RETURN_IF_ERROR(WriteCheckpoint());
    }
  }
  return true;
}

std::string StateTraining::Summary() const {
  std::string line = absl::StrFormat("steps=%d", trainer_->steps());
  if (trained_.step > 0) {
    line +=
        absl::StrFormat(" loss=%.4f reconstruction=%.4f contrast=%.4f accuracy=%.4f", trained_.loss,
                        trained_.reconstruction, trained_.contrast, trained_.accuracy);
  }
  if (!evaluation_.empty()) {
    line += absl::StrFormat(
        " held_out_reconstruction=%.4f held_out_contrast=%.4f held_out_accuracy=%.4f",
        measured_.reconstruction, measured_.contrast, measured_.accuracy);
  }
  return line + " model=" + options_.output + "/model";
}

absl::Status InRange(const char* flag, std::int64_t value, std::int64_t least,
                     std::int64_t most = std::int64_t{1} << 40) {
  if (value >= least && value <= most) return absl::OkStatus();
  return runtime::InvalidArgument(
      absl::StrFormat("%s %d is not from %d to %d", flag, value, least, most));
}

}  // namespace

absl::Status StateTrainingOptions::Validate() const {
  SHOAL_RETURN_IF_ERROR(InRange("--steps", steps, 1));
  SHOAL_RETURN_IF_ERROR(InRange("--bodies", bodies, 2, 4096));
  SHOAL_RETURN_IF_ERROR(InRange("--of-one-type", of_one_type, 1, 4096));
  SHOAL_RETURN_IF_ERROR(InRange("--body-bytes", body_bytes, 64, 1 << 20));
  SHOAL_RETURN_IF_ERROR(InRange("--evaluate-every", evaluate_every, 1));
  SHOAL_RETURN_IF_ERROR(InRange("--evaluate-batches", evaluate_batches, 1, 1024));
  SHOAL_RETURN_IF_ERROR(InRange("--checkpoint-every", checkpoint_every, 1));
  SHOAL_RETURN_IF_ERROR(InRange("--threads", threads, 0, 1024));
  if (!(left_out >= 0 && left_out < 1)) {
    return runtime::InvalidArgument("--left-out is not from 0 to below 1");
  }
  const training::RateSchedule schedule{.peak = learning_rate, .warmup = warmup, .floor = floor};
  SHOAL_RETURN_IF_ERROR(schedule.Validate());
  if (output.empty()) return runtime::InvalidArgument("--output is empty");
  return absl::OkStatus();
}

std::string StateTrainingOptions::Identity() const {
  return json{{"hold_out", hold_out},
              {"base", base},
              {"layer", layer},
              {"latent", latent},
              {"channels", channels},
              {"kernel", kernel},
              {"layers", layers},
              {"steps", steps},
              {"bodies", bodies},
              {"of_one_type", of_one_type},
              {"left_out", left_out},
              {"body_bytes", body_bytes},
              {"learning_rate", learning_rate},
              {"warmup", warmup},
              {"floor", floor},
              {"reconstruction_weight", reconstruction_weight},
              {"contrast_weight", contrast_weight},
              {"temperature", temperature},
              {"seed", seed}}
      .dump(2, ' ', false, json::error_handler_t::replace);
}

absl::Status TrainState(const StateTrainingOptions& options,
                        const std::vector<CaptureBodies>& captures,
                        const embedding::LanguageStates& base, const std::function<bool()>& stop,
                        std::ostream& out) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  std::set<std::string> unknown(options.hold_out.begin(), options.hold_out.end());
  const std::set<std::string> wanted = unknown;
  std::vector<const json*> training;
  std::vector<const json*> held_out;
  json identity = {{"options", json::parse(options.Identity())}, {"base", base.version()}};
  for (const CaptureBodies& capture : captures) {
    unknown.erase(capture.capture);
    auto& into = wanted.contains(capture.capture) ? held_out : training;
    for (const json& body : capture.bodies) into.push_back(&body);
    identity["captures"][capture.capture] = capture.digest;
  }
  if (!unknown.empty()) {
    return runtime::NotFound("--hold-out " + *unknown.begin() + " is none of --captures");
  }
  if (training.empty()) return runtime::InvalidArgument("there is no body to train on");
  StateTraining run(options, base, training, held_out, std::move(identity));
  SHOAL_RETURN_IF_ERROR(run.Begin());
  SHOAL_ASSIGN_OR_RETURN(const bool done, run.Run(stop));
  out << run.Summary() << std::endl;
  if (!done) out << "stopped; with --resume the same command goes on from there" << std::endl;
  return absl::OkStatus();
}

absl::Status TrainStateOnCaptures(const StateTrainingOptions& options, std::ostream& out) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  SHOAL_ASSIGN_OR_RETURN(const std::vector<CaptureBodies> captures,
                         LoadBodies(options.captures, options.data));
  const runtime::StopSignals signals;
  model::SetTorchThreads(options.threads > 0
                             ? options.threads
                             : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  SHOAL_ASSIGN_OR_RETURN(
      const auto base, embedding::MakeLanguageStates(options.source, options.base, options.layer));
  return TrainState(
      options, captures, *base, [&] { return signals.pending(); }, out);
}

void AddTrainStateCommand(CLI::App& app, Action& action) {
  const auto options = std::make_shared<StateTrainingOptions>();
  CLI::App& train = *app.add_subcommand(
      "train-state", "Trains the pooling of a language model's hidden states into one vector");
  const auto add = [&train](const char* flag, auto& value, const char* help) {
    return train.add_option(flag, value, help)->capture_default_str();
  };
  add("--captures", options->captures, "Names, archives or folders")->required();
  add("--hold-out", options->hold_out, "Of these, captures to measure on, never learned from");
  add("--output", options->output, "Folder of the run")->required();
  add("--model", options->base,
      "Language model beneath: gpt2:<preset or folder>, sentence or sentence:<folder>");
  add("--layer", options->layer, "Its blocks before the hidden states; 0: none, -1: all");
  add("--models", options->source.encoder_models, "Folder of presets");
  add("--sentences", options->source.encoder_sentences, "Folder of the sentence encoder");
  add("--precision", options->source.encoder_precision, "As the knob inference.encoder_precision");
  add("--data", options->data, "Folder with captures/");
  train.add_flag("--resume", options->resume, "Go on from the latest checkpoint in --output");
  add("--latent", options->latent, "Numbers of a vector");
  add("--channels", options->channels, "Numbers between the convolutions");
  add("--kernel", options->kernel, "Tokens that a convolution sees at once; odd");
  add("--layers", options->layers, "Convolutions, each of which halves the length");
  add("--steps", options->steps, "Length of the run");
  add("--bodies", options->bodies, "Bodies of a step; each comes in two states of two views");
  add("--of-one-type", options->of_one_type, "Neighbours of a step that have one type");
  add("--left-out", options->left_out, "Share of properties that a view lacks");
  add("--body-bytes", options->body_bytes, "Longer bodies lose members");
  add("--learning-rate", options->learning_rate, "At its peak");
  add("--warmup", options->warmup, "Part of the run in which the rate rises");
  add("--floor", options->floor, "Of the rate at the end, as a part of its peak");
  add("--reconstruction-weight", options->reconstruction_weight, "Factor on that loss");
  add("--contrast-weight", options->contrast_weight, "Factor on that loss");
  add("--temperature", options->temperature, "Of the contrast");
  add("--evaluate-every", options->evaluate_every, "Steps");
  add("--evaluate-batches", options->evaluate_batches, "Batches that an evaluation has");
  add("--checkpoint-every", options->checkpoint_every, "Steps");
  add("--seed", options->seed, "Of parameters and draws");
  add("--threads", options->threads, "Of torch; 0: as many as the processor has");
  Bind(train, action, options, TrainStateOnCaptures);
}

}  // namespace shoal::encoder
