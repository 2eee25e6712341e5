// SPDX-License-Identifier: Apache-2.0
#include "cli/session/training_session.h"

#include <absl/strings/str_format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/results/evaluation_text.h"
#include "cli/results/report.h"
#include "cli/results/run_files.h"
#include "platform/runtime/log.h"
#include "platform/runtime/stop_signals.h"
#include "rl/parameters/evaluation_report.h"

namespace shoal::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick(50);
constexpr milliseconds kScrapeInterval(1000);
// The interval until environment steps are seen, so that progress shows and evaluations may begin
// early, and while evaluations go by steps.
constexpr milliseconds kFrequentScrapeInterval(200);
// Up to half of the starts satisfy their goal already.
constexpr double kSpare = 2;
// For each version that an evaluation plays.
constexpr std::chrono::seconds kEvaluationBudget(90);
constexpr std::chrono::minutes kEvaluationDeadline(2);
constexpr std::chrono::minutes kFinalGrace(5);
constexpr milliseconds kReportTimeout(500);
constexpr int kExitStopped = 130;
// So many successive versions share the start of an evaluation's actor and the batches of its rows,
// where there are no goals.
constexpr std::int64_t kVersionsAtOnce = 3;
// Evaluations that go by steps have seeds from here on, which depend on the steps alone: even ones
// for versions that are evaluated together, odd ones to confirm.
constexpr std::int64_t kSeedsOfSteps = std::int64_t{1} << 32;
// The policy name for whichever version acts now.
constexpr char kLearned[] = "learned";

double UnixSeconds(const runtime::Clock& clock) {
  return static_cast<double>(clock.UnixNanos()) / 1e9;
}

runtime::Duration Seconds(double seconds) {
  return std::chrono::duration_cast<runtime::Duration>(std::chrono::duration<double>(seconds));
}

Extent ExtentOf(const TrainOptions& train) {
  Extent extent;
  if (train.minutes > 0) extent.seconds = train.minutes * 60;
  if (train.max_steps > 0) extent.environment_steps = static_cast<double>(train.max_steps);
  return extent;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TrainingSession>> TrainingSession::Create(SessionOptions options,
                                                                         RunDirectory directory,
                                                                         runtime::Clock& clock) {
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<display::EventWriter> events,
                         display::EventWriter::Create(directory.path(), UnixSeconds(clock)));
  auto session = std::unique_ptr<TrainingSession>(
      new TrainingSession(std::move(options), std::move(directory), std::move(events), clock));
  SHOAL_RETURN_IF_ERROR(session->TakeUp());
  session->MakeSchedule();
  if (session->options_.learner.empty()) return session;
  const std::string& folder = session->directory_.path();
  SHOAL_ASSIGN_OR_RETURN(session->best_,
                         BestVersion::Create({.learner = session->options_.learner,
                                              .learner_folder = folder + "/parameters",
                                              .folder = folder + "/best"}));
  return session;
}

TrainingSession::TrainingSession(SessionOptions options, RunDirectory directory,
                                 std::unique_ptr<display::EventWriter> events,
                                 runtime::Clock& clock)
    : options_(std::move(options)),
      directory_(std::move(directory)),
      clock_(clock),
      events_(std::move(events)),
      supervisor_({}, clock),
      evaluator_(options_.evaluator, clock),
      display_(Seconds(options_.train.status_every_seconds), clock),
      stop_rule_(options_.train),
      tracker_(options_.has_goals),
      extent_(ExtentOf(options_.train)) {}

int TrainingSession::Run() {
  if (const absl::Status started = StartProcesses(); !started.ok()) {
    Complain(started);
    supervisor_.Stop();
    return runtime::kExitConfiguration;
  }
  TrainingEnd end = Train();
  if (end == TrainingEnd::kFinished) end = FinishEvaluations();
  evaluator_.Cancel();
  int code = failed_code_;
  if (end == TrainingEnd::kFinished) code = Judge();
  if (stopped_) code = kExitStopped;
  display_.Note(stopped_ ? "stopping" : "ending");
  if (!supervisor_.Stop()) display_.Note("a process did not end in time and was killed");
  const absl::StatusOr<std::string> report = WriteReport(directory_.path());
  if (!report.ok()) {
    Complain(report.status());
  } else {
    std::printf("%sreport: %s\n", table_.c_str(), report->c_str());
  }
  const bool trained = !options_.only_judge && !options_.processes.empty();
  if (stopped_ && trained && !options_.never_judge) {
    std::printf("to go on: shoal train --resume %s\n", directory_.path().c_str());
  }
  if (code == 0 && options_.suggestion) {
    std::printf("%s", SuggestOperation(*options_.suggestion).c_str());
  }
  if (code == 0) std::printf("%s\n", result_.c_str());
  std::fflush(stdout);
  return code;
}

absl::Status TrainingSession::TakeUp() {
  SHOAL_ASSIGN_OR_RETURN(std::vector<std::string> rows, directory_.LastLines("metrics.jsonl"));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> evaluations,
                         directory_.LastLines("evaluations.jsonl"));
  noted_ = static_cast<std::int64_t>(evaluations.size());
  evaluations_ = noted_;
  if (!evaluations.empty()) {
    const nlohmann::json last = nlohmann::json::parse(evaluations.back(), nullptr, false);
    const auto steps = last.find("environment_steps");
    if (steps != last.end() && steps->is_number()) judged_steps_ = steps->get<double>();
  }
  for (; !rows.empty(); rows.pop_back()) {
    const absl::StatusOr<Progress> progress = ParseProgress(rows.back());
    if (!progress.ok()) continue;
    earlier_ = *progress;
    progress_ = earlier_;
    display_.Note(absl::StrFormat("goes on after %.0f s, %.0f steps", earlier_.seconds,
                                  earlier_.environment_steps));
    break;
  }
  return absl::OkStatus();
}

void TrainingSession::MakeSchedule() {
  const TrainOptions& train = options_.train;
  if (train.evaluate_every_steps == 0 || options_.learner_log.empty()) return;
  schedule_ = std::make_unique<EvaluationSchedule>(
      EvaluationSchedule::Options{.learner_log = options_.learner_log,
                                  .every = static_cast<double>(train.evaluate_every_steps),
                                  .group = VersionsAtOnce(),
                                  .judged = judged_steps_,
                                  .retained = options_.retained_versions});
}

absl::Status TrainingSession::StartProcesses() {
  for (const PlannedProcess& process : options_.processes) {
    SHOAL_RETURN_IF_ERROR(supervisor_.Start(process.spec, process.stage));
  }
  training_started_ = clock_.Now() - Seconds(earlier_.seconds);
  next_evaluation_ = clock_.Now() + Seconds(options_.train.evaluate_every_seconds);
  return absl::OkStatus();
}

TrainingSession::TrainingEnd TrainingSession::Train() {
  while (!TimeIsUp() && !supervisor_.finished()) {
    stopped_ = stopped_ || runtime::StopSignals::Wait(kTick);
    if (stopped_) return TrainingEnd::kStopped;
    if (!Tick()) return TrainingEnd::kFailed;
    PollEvaluation();
  }
  Scrape();
  return TrainingEnd::kFinished;
}

bool TrainingSession::TimeIsUp() const {
  const TrainOptions& train = options_.train;
  if (options_.never_judge) return false;
  if (good_enough_ || options_.only_judge) return true;
  if (train.minutes > 0 && SecondsSince(training_started_) >= train.minutes * 60) return true;
  return train.max_steps > 0 && progress_.environment_steps >= static_cast<double>(train.max_steps);
}

bool TrainingSession::Tick() {
  const absl::Status status = supervisor_.Poll();
  for (const std::string& event : supervisor_.TakeEvents()) display_.Note(event);
  if (!status.ok()) {
    TakeFailure(status);
    return false;
  }
  if (clock_.Now() < next_scrape_) return true;
  Scrape();
  const bool flowing = progress_.environment_steps > 0;
  const bool often = !flowing || options_.train.evaluate_every_steps > 0;
  next_scrape_ = clock_.Now() + (often ? kFrequentScrapeInterval : kScrapeInterval);
  display_.Show(progress_, extent_);
  if (clock_.Now() >= next_record_) {
    Record();
    next_record_ = clock_.Now() + Seconds(options_.train.record_every_seconds);
  }
  return true;
}

void TrainingSession::Scrape() {
  const double unix_seconds = UnixSeconds(clock_);
  const auto scrape = [this](const std::string& name, const std::string& address) {
    // Each hanging process costs a timeout, so Ctrl-C is honoured between scrapes.
    stopped_ = stopped_ || runtime::StopSignals::Wait(milliseconds(0));
    if (stopped_) return;
    const auto samples = ScrapeMetrics(address);
    if (!samples.ok()) return;
    totals_.Update(name, *samples);
    table_of_metrics_.Update(*samples);
  };
  for (const PlannedProcess& process : options_.processes) {
    for (const MetricsAddress& part : process.metrics) scrape(part.name, part.address);
  }
  for (const std::string& address : options_.train.metrics) scrape(address, address);
  const std::optional<double> epoch = totals_.Gauge("shoal_inference_parameter_epoch");
  knows_servers_ = epoch.has_value();
  saw_policy_ = saw_policy_ || epoch.value_or(0) > 0;
  progress_ = tracker_.Observe(SecondsSince(training_started_), totals_, table_of_metrics_);
  progress_.environment_steps += earlier_.environment_steps;
  progress_.updates += earlier_.updates;
  if (schedule_ != nullptr) schedule_->Count(unix_seconds, progress_.environment_steps);
}

void TrainingSession::Record() {
  std::map<std::string, double> values = {
      {"environment_steps_per_second", progress_.environment_steps_per_second},
      {"updates", progress_.updates}};
  for (const auto& [word, value] : progress_.status) values[word] = value;
  // TensorBoard groups scalars by the part of the name before the slash.
  for (const auto& [name, row] : table_of_metrics_.rows()) {
    const std::string key = row.key();
    for (auto value = progress_.details.lower_bound(key); value != progress_.details.end();
         ++value) {
      const bool own = value->first == key || value->first.starts_with(key + "/");
      if (!value->first.starts_with(key)) break;
      if (own) values[row.group + "/" + value->first] = value->second;
    }
  }
  const auto step = static_cast<std::int64_t>(progress_.environment_steps);
  if (table_of_metrics_.rows().size() > written_metrics_) {
    written_metrics_ = table_of_metrics_.rows().size();
    const absl::Status table = directory_.Write("metrics_table.json", table_of_metrics_.ToJson());
    if (!table.ok()) Complain(table);
  }
  const absl::Status line = directory_.AppendLine("metrics.jsonl", ToJson(progress_));
  const absl::Status event = events_->Write(UnixSeconds(clock_), step, values);
  if (!line.ok()) Complain(line);
  if (!event.ok()) Complain(event);
}

void TrainingSession::PollEvaluation() {
  if (const auto outcome = evaluator_.Poll()) return TakeOutcome(*outcome);
  if (!evaluator_.running()) StartEvaluation();
}

void TrainingSession::TakeFailure(const absl::Status& status) {
  Complain(status);
  if (absl::IsOutOfRange(status)) failed_code_ = runtime::kExitDiverged;
}

void TrainingSession::StopStage(Stage stage) {
  stopped_ = stopped_ || runtime::StopSignals::Wait(milliseconds(0));
  if (!stopped_) supervisor_.StopStage(stage);
}

TrainingSession::TrainingEnd TrainingSession::FinishEvaluations() {
  if (schedule_ != nullptr && !good_enough_) {
    StopStage(kActors);
    Scrape();
    const auto taken = static_cast<std::int64_t>(playing_.size() + played_.size());
    const std::int64_t left = taken + schedule_->due();
    if (left > 0) display_.Note(absl::StrFormat("judging %d versions that are left", left));
  }
  while (!stopped_ && (confirming_ || schedule_ != nullptr)) {
    if (!evaluator_.running()) {
      // What the learner published meanwhile may make inference forget a version that waits.
      if (schedule_ != nullptr && !good_enough_) Scrape();
      StartEvaluation();
    }
    if (!evaluator_.running()) break;
    const absl::StatusOr<Evaluation> outcome = WaitForEvaluation();
    if (stopped_ || evaluator_.running()) {  // It was not the evaluation that failed.
      if (std::exchange(confirming_, false)) stop_rule_.Confirm({});
      if (stopped_) break;
      TakeFailure(outcome.status());
      return TrainingEnd::kFailed;
    }
    TakeOutcome(outcome);
  }
  return stopped_ ? TrainingEnd::kStopped : TrainingEnd::kFinished;
}

bool TrainingSession::EvaluationIsDue() const {
  const TrainOptions& train = options_.train;
  if (train.evaluate_every_steps > 0) {
    const auto every = static_cast<double>(train.evaluate_every_steps);
    return progress_.environment_steps >= judged_steps_ + every;
  }
  return train.evaluate_every_seconds > 0 && clock_.Now() >= next_evaluation_;
}

void TrainingSession::StartEvaluation() {
  if (stopped_ || good_enough_ || !judges_on_the_way_ || progress_.updates <= 0) return;
  playing_.clear();
  if (!played_.empty()) {
    playing_.push_back(std::move(played_.front()));
    played_.pop_front();
  } else if (schedule_ != nullptr) {
    for (const PublishedVersion& due : TakeDue()) {
      playing_.push_back({parameters::ToString(due.version), due.environment_steps, due.multiple});
    }
  } else if (EvaluationIsDue()) {
    std::string newest = NewestVersion();
    playing_.push_back({std::move(newest), progress_.environment_steps});
    judged_steps_ = progress_.environment_steps;
  }
  if (playing_.empty()) return;
  std::vector<std::string> versions;
  for (const Candidate& candidate : playing_) versions.push_back(candidate.version);
  Evaluate(versions, options_.train.evaluate_episodes,
           SeedOf(playing_.front(), /*confirms=*/false));
}

std::vector<PublishedVersion> TrainingSession::TakeDue() {
  if (!std::exchange(lost_one_, false)) return schedule_->Take();
  const std::optional<PublishedVersion> newest = schedule_->TakeNewest();
  return newest ? std::vector{*newest} : std::vector<PublishedVersion>();
}

std::int64_t TrainingSession::VersionsAtOnce() const {
  return options_.has_goals ? 1 : kVersionsAtOnce;
}

std::optional<std::int64_t> TrainingSession::SeedOf(const Candidate& candidate,
                                                    bool confirms) const {
  if (schedule_ == nullptr) return std::nullopt;
  const std::int64_t multiple = candidate.multiple;
  return kSeedsOfSteps + (confirms ? 2 * multiple + 1 : 2 * (multiple / VersionsAtOnce()));
}

void TrainingSession::Evaluate(const std::vector<std::string>& policies, std::int64_t episodes,
                               std::optional<std::int64_t> seed) {
  ++evaluations_;
  const auto share = static_cast<int>(policies.size());
  const absl::Status started = evaluator_.Start({.name = "greedy-" + std::to_string(evaluations_),
                                                 .policies = policies,
                                                 .episodes = episodes,
                                                 .seed = seed.value_or(evaluations_),
                                                 .captures = options_.captures,
                                                 .budget = share * kEvaluationBudget,
                                                 .deadline = share * kEvaluationDeadline});
  if (started.ok()) return;
  Complain(started);
  if (std::exchange(confirming_, false)) {
    stop_rule_.Confirm({});
  } else {
    TakePlayed(started);
  }
}

void TrainingSession::TakeOutcome(const absl::StatusOr<Evaluation>& outcome) {
  next_evaluation_ = clock_.Now() + Seconds(options_.train.evaluate_every_seconds);
  const bool confirms = std::exchange(confirming_, false);
  if (outcome.ok() && confirms) NoteEvaluation(*outcome);
  if (confirms) good_enough_ = stop_rule_.Confirm(outcome.ok() ? *outcome : Evaluation{});
  if (!outcome.ok()) {
    // Every other evaluation would fail the same way, so the error is shown once.
    judges_on_the_way_ = !absl::IsInvalidArgument(outcome.status());
    Complain(outcome.status());
  }
  if (!confirms) TakePlayed(outcome.status());
  JudgePlayed();
}

void TrainingSession::TakePlayed(const absl::Status& status) {
  for (auto one = playing_.rbegin(); one != playing_.rend(); ++one) {
    absl::StatusOr<Evaluation> own = evaluator_.Of(one->version);
    const bool ended =
        status.ok() || (schedule_ != nullptr && evaluator_.PlayedAllOf(one->version));
    const bool enough = own.ok() && (schedule_ == nullptr || own->Total(kLearned).episodes > 0);
    if (ended && enough) {
      one->evaluation = *std::move(own);
    } else if (schedule_ == nullptr || !judges_on_the_way_) {
      continue;
    } else if (std::exchange(one->again, true)) {
      spdlog::warn("event=evaluation_lost version={} environment_steps={:.0f} reason={}",
                   one->version, one->environment_steps,
                   runtime::Quoted(status.ok() ? "no episode counted" : status.ToString()));
      lost_one_ = true;
      continue;
    }
    played_.push_front(std::move(*one));
  }
  playing_.clear();
}

void TrainingSession::JudgePlayed() {
  while (!played_.empty() && played_.front().evaluation && !good_enough_ && !confirming_) {
    const Candidate candidate = std::move(played_.front());
    played_.pop_front();
    judged_version_ = candidate.version;
    judged_steps_ = candidate.environment_steps;
    NoteEvaluation(*candidate.evaluation);
    if (best_ != nullptr) best_->Observe(judged_version_, *candidate.evaluation);
    TellLearner(*candidate.evaluation);
    const bool reached = stop_rule_.Observe(*candidate.evaluation, judged_steps_);
    confirming_ = reached && options_.train.stop_confirm_episodes > 0;
    good_enough_ = reached && !confirming_;
    if (confirming_) {
      Evaluate({judged_version_}, options_.train.stop_confirm_episodes,
               SeedOf(candidate, /*confirms=*/true));
    }
  }
}

std::string TrainingSession::NewestVersion() {
  Scrape();
  // The oldest version of all servers, as one may be behind.
  const std::optional<double> epoch = totals_.LeastGauge("shoal_inference_parameter_epoch");
  const std::optional<double> step = totals_.LeastGauge("shoal_inference_parameter_step");
  if (!epoch || !step || *epoch < 1) return kLearned;
  // The learner was started again, and some servers have not yet heard of it.
  if (totals_.Gauge("shoal_inference_parameter_epoch") != epoch) return kLearned;
  return absl::StrFormat("%.0f.%.0f", std::floor(*epoch), std::floor(*step));
}

void TrainingSession::NoteEvaluation(const Evaluation& evaluation) {
  ++noted_;
  const Score score = evaluation.Total("learned");
  nlohmann::json row = {{"seconds", progress_.seconds},
                        {"environment_steps", judged_steps_},
                        {"return", score.mean_return()}};
  std::map<std::string, double> values = {{"evaluation/return", score.mean_return()}};
  if (evaluation.has_goals) {
    row["success"] = score.success_rate();
    row["clean"] = score.clean_rate();
    values["evaluation/success"] = score.success_rate();
    if (const auto ratio = score.steps_per_optimal()) row["steps_per_optimal"] = *ratio;
    if (const auto ratio = score.mutations_per_optimal()) row["mutations_per_optimal"] = *ratio;
  }
  display_.Note(absl::StrFormat("evaluation %d after %.0f steps: ", noted_, judged_steps_) +
                EvaluationNote(evaluation));
  const absl::Status line = directory_.AppendLine("evaluations.jsonl", row.dump());
  const absl::Status event =
      events_->Write(UnixSeconds(clock_), static_cast<std::int64_t>(judged_steps_), values);
  if (!line.ok()) Complain(line);
  if (!event.ok()) Complain(event);
}

void TrainingSession::TellLearner(const Evaluation& evaluation) {
  const Score score = evaluation.Total(kLearned);
  const std::optional<parameters::Version> version = parameters::ParseVersion(judged_version_);
  if (options_.learner.empty() || !version || score.episodes == 0) return;
  const absl::Status told =
      parameters::SendEvaluation(options_.learner, "session",
                                 {.version = *version,
                                  .mean_return = score.mean_return(),
                                  .episodes = static_cast<std::uint64_t>(score.episodes)},
                                 kReportTimeout);
  if (!told.ok()) Complain(runtime::Annotate(told, "the learner was not told of an evaluation"));
}

int TrainingSession::Judge() {
  Record();
  // Servers that have just been started again have none for a moment, though there is one.
  if (knows_servers_ && !saw_policy_ && !options_.only_judge) {
    Complain(absl::FailedPreconditionError(absl::StrFormat(
        "training ended after %.0f s, before the learner had published a policy, so there is "
        "nothing to evaluate. A learner clones its demonstrations first: give it more time with "
        "--minutes, or fewer steps of cloning with learner.demonstration_updates",
        SecondsSince(training_started_))));
    return runtime::kExitFailed;
  }
  display_.Note(absl::StrFormat("trained for %.0f s, %.0f steps; evaluating %d policies",
                                SecondsSince(training_started_), progress_.environment_steps,
                                options_.train.baselines.size() + 1) +
                (options_.train.final_minutes > 0
                     ? absl::StrFormat(" for at most %g min", options_.train.final_minutes)
                     : ""));
  StopStage(kActors);
  // A learner without actors rests. Inference fetches from it the version that is judged, unless
  // that is the newest.
  const std::string version = stopped_ ? std::string(kLearned) : VersionToJudge();
  if (version == kLearned) StopStage(kLearner);
  if (stopped_) return kExitStopped;
  const absl::StatusOr<Evaluation> evaluation = EvaluateFinally(version);
  if (stopped_) return kExitStopped;
  if (!evaluation.ok()) {
    Complain(evaluation.status());
    if (absl::IsOutOfRange(evaluation.status())) return runtime::kExitDiverged;
    return absl::IsInvalidArgument(evaluation.status()) ? runtime::kExitConfiguration
                                                        : runtime::kExitFailed;
  }
  const std::string line = ResultLine(*evaluation);
  WriteResult(*evaluation, line);
  const std::string sizes = evaluator_.CatalogSizes();
  if (!sizes.empty()) table_ = "\nrequests to choose from:\n" + sizes;
  table_ += "\n" + FormatTable(*evaluation, options_.held_out) + "\n";
  result_ = DigestLine(options_.processes) + line;
  return 0;
}

absl::StatusOr<Evaluation> TrainingSession::EvaluateFinally(const std::string& version) {
  const runtime::Duration budget = Seconds(options_.train.final_minutes * 60);
  // The time that the actor gets beyond its budget, to start and to end.
  const runtime::Duration deadline =
      budget > runtime::Duration{} ? budget + kFinalGrace : runtime::Duration{};
  absl::StatusOr<Evaluation> evaluation = runtime::Internal("no evaluation was made");
  // After two failed tries the version may be lost everywhere. The newest parameters are the next
  // best.
  for (const std::string& policy : {version, version, std::string(kLearned)}) {
    std::vector<std::string> policies = {policy};
    policies.insert(policies.end(), options_.train.baselines.begin(),
                    options_.train.baselines.end());
    SHOAL_RETURN_IF_ERROR(evaluator_.Start({.name = "final",
                                            .policies = policies,
                                            .episodes = options_.train.final_episodes,
                                            .spare = options_.has_goals ? kSpare : 1,
                                            .seed = FinalSeed(),
                                            .budget = budget,
                                            .deadline = deadline}));
    evaluation = WaitForEvaluation();
    if (evaluation.ok() || stopped_ || absl::IsInvalidArgument(evaluation.status()) ||
        absl::IsDeadlineExceeded(evaluation.status())) {
      break;
    }
    if (evaluator_.running()) break;  // It was not the evaluation that failed.
    Complain(evaluation.status());
    display_.Note("evaluating again");
  }
  return evaluation;
}

std::string TrainingSession::VersionToJudge() {
  // A learner that others started goes on, so there a version is named, too.
  if (options_.processes.empty()) return good_enough_ ? judged_version_ : NewestVersion();
  if (best_ == nullptr) return kLearned;
  const std::optional<std::string> best = best_->Await();
  if (!best) return kLearned;
  display_.Note("judging version " + *best + ", the best that was evaluated");
  return *best;
}

std::int64_t TrainingSession::FinalSeed() const {
  constexpr std::int64_t kOfOwnRun = std::int64_t{1} << 20;
  constexpr std::int64_t kOfLaterOne = std::int64_t{1} << 21;
  return options_.only_judge ? kOfLaterOne : kOfOwnRun;
}

absl::StatusOr<Evaluation> TrainingSession::WaitForEvaluation() {
  while (true) {
    if (auto outcome = evaluator_.Poll()) return std::move(*outcome);
    stopped_ = stopped_ || runtime::StopSignals::Wait(kTick);
    if (stopped_) {
      evaluator_.Cancel();
      return runtime::Cancelled("stopped");
    }
    SHOAL_RETURN_IF_ERROR(supervisor_.Poll());
    for (const std::string& event : supervisor_.TakeEvents()) display_.Note(event);
    if (const auto progress = evaluator_.Progress()) display_.Show(ToText(*progress));
  }
}

std::string TrainingSession::ResultLine(const Evaluation& evaluation) const {
  std::string line = ResultText(evaluation, options_.held_out);
  if (const std::optional<double> steps = stop_rule_.reached_steps()) {
    line += absl::StrFormat(" reached_steps=%.0f", *steps);
  }
  return line + absl::StrFormat(" env_steps=%.0f seconds=%.0f", progress_.environment_steps,
                                SecondsSince(options_.started) + earlier_.seconds);
}

void TrainingSession::WriteResult(const Evaluation& evaluation, const std::string& line) {
  nlohmann::json result = nlohmann::json::parse(ToJson(evaluation, options_.held_out));
  result["line"] = line;
  const absl::Status written = directory_.Write("result.json", result.dump(1));
  if (!written.ok()) Complain(written);
}

double TrainingSession::SecondsSince(runtime::TimePoint time) const {
  return std::chrono::duration<double>(clock_.Now() - time).count();
}

void TrainingSession::Complain(const absl::Status& status) {
  display_.Note("error: " + runtime::Message(status));
}

}  // namespace shoal::cli
