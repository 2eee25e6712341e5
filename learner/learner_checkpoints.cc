// SPDX-License-Identifier: Apache-2.0
// What a learner saves, and what it goes on from.
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "learner/learner.h"
#include "learner/learner_metrics.h"
#include "learner/learner_parts.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/log.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/algorithms/trainer_checkpoint.h"
#include "rl/training/checkpoint_folder.h"

namespace shoal::learner {
namespace {

// What a checkpoint's note says: the steps of environments so far, and the version of the
// parameters.
struct Note {
  double environment_steps = 0;
  parameters::Version version;
};

std::string ToText(const Note& note) {
  return nlohmann::json{{"environment_steps", note.environment_steps},
                        {"epoch", note.version.epoch},
                        {"step", note.version.step}}
      .dump();
}

// What a note lacks, as those of earlier versions of this program do, is 0.
Note ParseNote(const std::string& text) {
  const auto parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  Note note;
  const auto read = [&parsed](const char* name, auto& number) {
    if (!parsed.is_object()) return;
    const auto found = parsed.find(name);
    if (found != parsed.end() && found->is_number()) found->get_to(number);
  };
  read("environment_steps", note.environment_steps);
  read("epoch", note.version.epoch);
  read("step", note.version.step);
  return note;
}

std::string CheckpointsOf(const std::string& run_folder) { return run_folder + "/checkpoints"; }

// Returns the folder that `checkpoint` is in.
std::string FolderAround(const std::string& checkpoint) {
  const std::filesystem::path folder =
      std::filesystem::path(checkpoint + "/").lexically_normal().parent_path().parent_path();
  return folder.empty() ? "." : folder.string();
}

// Returns the number of the checkpoint whose folder `path` is, or nothing where it is that of a
// run, whatever the run is called.
std::optional<std::int64_t> CheckpointIn(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::exists(CheckpointsOf(path), unknown)) return std::nullopt;
  return training::CheckpointFolder::NumberIn(path);
}

}  // namespace

absl::Status Learner::Resume() {
  const std::string& other = setup_.learner.start_from;
  SHOAL_ASSIGN_OR_RETURN(parts_->checkpoints, MakeCheckpoints());
  absl::StatusOr<LoadedCheckpoint> loaded = LoadNewest();
  parts_->has_checkpoint = loaded.ok() && loaded->survives;
  if (loaded.ok()) parts_->saved = {loaded->version, TrainedNumber()};
  if (absl::IsNotFound(loaded.status()) && !other.empty()) {
    const std::optional<std::int64_t> number = CheckpointIn(other);
    loaded =
        LoadCheckpoint(number ? FolderAround(other) : CheckpointsOf(other), {.number = number});
    if (!loaded.ok()) return runtime::Annotate(loaded.status(), "learner.start_from");
  }
  if (loaded.ok()) {
    parts_->environment_steps = loaded->environment_steps;
    parts_->earlier_environment_steps = parts_->environment_steps;
  } else if (!absl::IsNotFound(loaded.status())) {
    return loaded.status();
  }
  return CompareRanks("at start");
}

absl::StatusOr<Learner::LoadedCheckpoint> Learner::LoadNewest() {
  SHOAL_ASSIGN_OR_RETURN(std::set<std::string> condemned, CondemnedCheckpoints());
  SHOAL_ASSIGN_OR_RETURN(LoadedCheckpoint loaded,
                         LoadCheckpoint(CheckpointsFolder(), {.rather_not = condemned}));
  condemned.erase(loaded.identity);
  // The rollback that condemned them did not come to remove them.
  if (!condemned.empty()) {
    SHOAL_RETURN_IF_ERROR(parts_->checkpoints->WithdrawThese(condemned));
  }
  return loaded;
}

absl::StatusOr<std::set<std::string>> Learner::CondemnedCheckpoints() {
  SHOAL_ASSIGN_OR_RETURN(const auto listed,
                         training::ListSharedCheckpoints(CheckpointsFolder(), *parts_->reducer));
  if (listed.empty()) return std::set<std::string>();
  std::vector<double> condemned;
  for (const training::ListedCheckpoint& one : listed) {
    const Note note = ParseNote(algorithms::NoteOf(one.checkpoint));
    condemned.push_back(parts_->quarantine->Contains(note.version) ? 1 : 0);
  }
  // The folder of a rank that was away does not know what was condemned.
  SHOAL_RETURN_IF_ERROR(parts_->reducer->AllReduceMax(std::span<double>(condemned)));
  std::set<std::string> identities;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (condemned[i] == 0) continue;
    spdlog::warn("event=checkpoint_condemned number={}", listed[i].checkpoint.number);
    identities.insert(listed[i].identity);
  }
  return identities;
}

absl::StatusOr<Learner::SavedState> Learner::TargetOf(const training::CheckpointChoice& choice) {
  SHOAL_ASSIGN_OR_RETURN(const auto listed, training::ListSharedCheckpoints(
                                                CheckpointsFolder(), *parts_->reducer, choice));
  if (listed.empty()) return parts_->saved;
  const training::Checkpoint& first = listed[0].checkpoint;
  return SavedState{ParseNote(algorithms::NoteOf(first)).version, first.number};
}

std::string Learner::CheckpointsFolder() const { return CheckpointsOf(setup_.run.path()); }

absl::StatusOr<std::unique_ptr<training::SharedCheckpoints>> Learner::MakeCheckpoints() {
  return training::SharedCheckpoints::Create(
      {.root = CheckpointsFolder(),
       .keep = {.newest = setup_.learner.keep_checkpoints,
                .best = setup_.learner.keep_best_checkpoints}},
      *parts_->reducer);
}

absl::StatusOr<Learner::LoadedCheckpoint> Learner::LoadCheckpoint(
    const std::string& folder, const training::CheckpointChoice& choice) {
  SHOAL_ASSIGN_OR_RETURN(const training::SharedCheckpoint found,
                         training::ReadSharedCheckpoint(folder, *parts_->reducer, choice));
  for (const std::string& problem : found.problems) {
    spdlog::warn("event=checkpoint_damaged problem={}", runtime::Quoted(problem));
  }
  auto text = setup_.learner.fit_parameters ? LoadFitting(found.checkpoint, folder)
                                            : parts_->trainer->Load(found.checkpoint);
  if (!text.ok()) return runtime::Annotate(text.status(), folder);
  const Note note = ParseNote(*text);
  spdlog::info("event=resumed update={} environment_steps={} folder={}", parts_->trainer->updates(),
               note.environment_steps, runtime::Quoted(folder));
  return LoadedCheckpoint{found.checkpoint.number, found.identity, note.version,
                          note.environment_steps, parts_->checkpoints->Survives(found)};
}

absl::StatusOr<std::string> Learner::LoadFitting(const training::Checkpoint& checkpoint,
                                                 const std::string& folder) {
  SHOAL_ASSIGN_OR_RETURN(algorithms::FittedCheckpoint fitted,
                         parts_->trainer->LoadFitting(checkpoint));
  const std::string changes = ToString(fitted.parameters);
  if (changes.empty() || rank() != 0) return std::move(fitted.note);
  spdlog::info("event=fitted kept={} changes={}", fitted.parameters.kept.size(),
               runtime::Quoted(changes));
  const nlohmann::json report = {{"checkpoint", folder},
                                 {"kept", fitted.parameters.kept},
                                 {"changed", fitted.parameters.changed},
                                 {"added", fitted.parameters.added},
                                 {"dropped", fitted.parameters.dropped}};
  SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(
      setup_.run.path() + "/fitted.json",
      report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"));
  return std::move(fitted.note);
}

absl::Status Learner::SaveCheckpoint() {
  parts_->last_checkpoint = runtime::SystemClock().Now();
  parts_->has_checkpoint = true;
  parts_->checkpoint_was_due = false;
  // With asynchronous gradients rank 0 alone has the state.
  if (parts_->joined != nullptr && rank() != 0) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(Tolerate(Settle(), "checkpoint"));
  parts_->saving = {parts_->version, TrainedNumber()};
  SHOAL_ASSIGN_OR_RETURN(const std::optional<training::MeanReturn> mean_return, ReturnToSave());
  parts_->checkpoints->Begin([this, mean_return]() -> training::SharedCheckpoints::MakeFiles {
    const auto state =
        std::make_shared<const algorithms::TrainerCheckpoint>(parts_->trainer->Snapshot(
            ToText({.environment_steps = parts_->environment_steps, .version = parts_->version}),
            parts_->snapshots));
    return [state, mean_return] {
      training::Checkpoint files = algorithms::FilesOf(*state);
      files.mean_return = mean_return;
      return files;
    };
  });
  return absl::OkStatus();
}

absl::StatusOr<std::optional<training::MeanReturn>> Learner::ReturnToSave() {
  Parts& parts = *parts_;
  const std::optional<double> evaluation = parts.evaluation_return;
  const std::optional<double> value = evaluation ? evaluation : parts.recent_returns.Mean();
  // Not all ranks hear of the same episodes.
  std::array<double, 2> told = {value.value_or(std::numeric_limits<double>::quiet_NaN()),
                                evaluation ? 1.0 : 0.0};
  SHOAL_RETURN_IF_ERROR(parts.reducer->Broadcast(std::as_writable_bytes(std::span(told))));
  if (!std::isfinite(told[0])) return std::nullopt;
  return training::MeanReturn{.value = told[0], .is_of_evaluation = told[1] > 0};
}

absl::Status Learner::Settle() {
  if (!parts_->checkpoints->under_way()) return absl::OkStatus();
  const absl::Status settled = parts_->checkpoints->Settle();
  if (settled.ok()) parts_->saved = parts_->saving;
  return settled;
}

bool Learner::CanWait(const absl::Status& saved) const {
  // In lock step inference counts on what a version says of its checkpoint.
  return absl::IsResourceExhausted(saved) && !setup_.run.deterministic;
}

absl::Status Learner::Tolerate(const absl::Status& saved, const std::string& what) {
  if (saved.ok() || !CanWait(saved)) return saved;
  spdlog::warn("event=not_saved what={} folder={} reason={}", what,
               runtime::Quoted(setup_.run.path()), runtime::Quoted(runtime::Message(saved)));
  if (parts_->reports != nullptr) parts_->reports->RecordNotSaved(what);
  return absl::OkStatus();
}

absl::Status Learner::LogUses(std::span<const UnrollUse> uses) {
  Parts& parts = *parts_;
  const absl::Status logged = parts.ledger->Append(
      parts.version.epoch, static_cast<std::uint64_t>(parts.trainer->updates()) + 1, uses);
  return WaitForRoom(logged, "unroll_ids", parts.ids_wait);
}

absl::Status Learner::WriteQuarantine() {
  if (!parts_->checkpoints->keeps()) return absl::OkStatus();
  return WaitForRoom(
      runtime::Annotate(parts_->quarantine->Write(), "versions that were condemned are not kept"),
      "quarantine", parts_->quarantine_waits);
}

absl::Status Learner::WaitForRoom(const absl::Status& saved, const std::string& what, bool& waits) {
  if (!saved.ok() && !CanWait(saved)) return saved;
  const bool waited = std::exchange(waits, !saved.ok());
  if (saved.ok()) {
    if (waited) spdlog::info("event=saved_again what={}", what);
    return saved;
  }
  if (!waited) return Tolerate(saved, what);
  // The log would be full of it.
  if (parts_->reports != nullptr) parts_->reports->RecordNotSaved(what);
  return absl::OkStatus();
}

bool Learner::IsCheckpointDue() const {
  return parts_->trainer->updates() % setup_.learner.checkpoint_every_updates == 0;
}

bool Learner::IsCheckpointOwed() const {
  return parts_->breaker->healthy() && (parts_->checkpoint_was_due || IsCheckpointDue());
}

bool Learner::IsCheckpointTime() const {
  // In lock step inference must know from a version alone whether there is a checkpoint of it.
  if (setup_.run.deterministic) return false;
  const std::chrono::duration<double> since =
      runtime::SystemClock().Now() - parts_->last_checkpoint;
  return since.count() >= setup_.learner.checkpoint_every_seconds;
}

}  // namespace shoal::learner
