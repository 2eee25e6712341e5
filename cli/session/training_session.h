// SPDX-License-Identifier: Apache-2.0
// One run from its first process to its last line. A session starts the cluster (or watches one
// that runs already), shows its progress, and evaluates now and then. It ends training when the
// policy is good enough or time is up, and evaluates what was learned.
//
// Not thread-safe: everything happens on the main thread. After Run, nothing that it started is
// left.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/local_cluster.h"
#include "cli/cluster/supervisor.h"
#include "cli/metrics/metric_table.h"
#include "cli/metrics/metric_totals.h"
#include "cli/results/evaluator.h"
#include "cli/session/best_version.h"
#include "cli/session/evaluation_schedule.h"
#include "cli/session/progress.h"
#include "cli/session/run_directory.h"
#include "cli/session/stop_rule.h"
#include "cli/session/suggestion.h"
#include "cli/session/train_options.h"
#include "platform/display/event_writer.h"
#include "platform/runtime/program.h"

namespace shoal::cli {

struct SessionOptions {
  TrainOptions train;
  // The processes to start. Empty means to attach to a cluster that others started.
  std::vector<PlannedProcess> processes = {};
  EvaluatorOptions evaluator;
  // Whether the environment has goals and captures.
  bool has_goals = true;
  // The captures of training. Evaluations during training use no others.
  std::vector<std::string> captures = {};
  // A capture that training leaves out and the final evaluation adds, or empty for none.
  std::string held_out = "";
  // Evaluate at once, without training.
  bool only_judge = false;
  // Run until stopped, and evaluate nothing.
  bool never_judge = false;
  // The "host:port" of the learner whose best version is kept, or empty to judge the last one.
  std::string learner = "";
  // That learner's log, and how many versions inference retains: by these, evaluations that go by
  // steps judge the versions of their steps. Without a log they judge the newest.
  std::string learner_log = "";
  std::int64_t retained_versions = 1;
  // What to try after the run; none where it starts no mock server.
  std::optional<SuggestionOptions> suggestion = std::nullopt;
  // When this program began.
  runtime::TimePoint started = {};
};

class TrainingSession {
 public:
  // `clock` outlives this.
  static absl::StatusOr<std::unique_ptr<TrainingSession>> Create(SessionOptions options,
                                                                 RunDirectory directory,
                                                                 runtime::Clock& clock);

  // Runs the session and returns an exit code: 0 when the run came to its end, 130 when a signal
  // stopped it, 79 when training diverged and its learner ended for that.
  int Run();

 private:
  enum class TrainingEnd : std::uint8_t { kFinished, kStopped, kFailed };

  // A policy that an evaluation plays or has played, with the run's environment steps.
  struct Candidate {
    std::string version;
    double environment_steps = 0;
    // Their multiple of the interval, where evaluations go by steps.
    std::int64_t multiple = 0;
    // Nothing until it was played.
    std::optional<Evaluation> evaluation = std::nullopt;
    // It was lost with an evaluation that failed, and is played once more, alone.
    bool again = false;
  };

  TrainingSession(SessionOptions options, RunDirectory directory,
                  std::unique_ptr<display::EventWriter> events, runtime::Clock& clock);

  // Takes up what the run wrote down before it was stopped.
  absl::Status TakeUp();
  void MakeSchedule();
  absl::Status StartProcesses();
  TrainingEnd Train();
  // Looks after processes and metrics between waits. Returns false when the run cannot go on.
  bool Tick();
  bool TimeIsUp() const;
  void Scrape();
  void Record();
  void PollEvaluation();
  // Ends the run, which cannot go on.
  void TakeFailure(const absl::Status& status);
  // Stops a stage's processes unless a signal has stopped the run.
  void StopStage(Stage stage);
  // Ends the evaluations of training: one that confirms still counts, and so do those that go by
  // steps, of all versions that were published before training ended.
  TrainingEnd FinishEvaluations();
  bool EvaluationIsDue() const;
  // Starts the next evaluation if one is due.
  void StartEvaluation();
  std::int64_t VersionsAtOnce() const;
  // Returns a seed that neither time nor load decides, or nothing where evaluations go by time.
  std::optional<std::int64_t> SeedOf(const Candidate& candidate, bool confirms) const;
  // Without a seed, the number of the evaluation is the seed.
  void Evaluate(const std::vector<std::string>& policies, std::int64_t episodes,
                std::optional<std::int64_t> seed);
  // Returns the versions that are played next: those that are due, or the newest one after a
  // version was lost.
  std::vector<PublishedVersion> TakeDue();
  // Takes an evaluation that has ended, and then judges what it played.
  void TakeOutcome(const absl::StatusOr<Evaluation>& outcome);
  // Takes what the evaluation under way has played of each version. Where evaluations go by steps,
  // a version of which episodes lack is played once more; when they lack again, it is given up.
  void TakePlayed(const absl::Status& status);
  // Judges versions that were played until one of them is to be confirmed or is good enough, or is
  // to be played again.
  void JudgePlayed();
  // Returns the version that the final evaluation judges, or "learned" for the newest.
  std::string VersionToJudge();
  // Returns "epoch.step" of the newest parameters that every inference server has, or "learned"
  // when that is unknown.
  std::string NewestVersion();
  void NoteEvaluation(const Evaluation& evaluation);
  // Reports the evaluation of the version that was judged last, for the learner's circuit breaker.
  void TellLearner(const Evaluation& evaluation);
  // Makes the final evaluation and returns an exit code.
  int Judge();
  // Tries again when an evaluation fails, as a process may have died with what it had in memory.
  absl::StatusOr<Evaluation> EvaluateFinally(const std::string& version);
  absl::StatusOr<Evaluation> WaitForEvaluation();
  // Returns a seed whose starts differ from those of every evaluation during training, and between
  // `shoal train` and `shoal evaluate`.
  std::int64_t FinalSeed() const;
  std::string ResultLine(const Evaluation& evaluation) const;
  void WriteResult(const Evaluation& evaluation, const std::string& line);
  double SecondsSince(runtime::TimePoint time) const;
  void Complain(const absl::Status& status);

  const SessionOptions options_;
  const RunDirectory directory_;
  runtime::Clock& clock_;
  const std::unique_ptr<display::EventWriter> events_;
  Supervisor supervisor_;
  Evaluator evaluator_;
  StatusDisplay display_;
  StopRule stop_rule_;
  // Null where no version is kept.
  std::unique_ptr<BestVersion> best_;
  MetricTotals totals_;
  MetricTable table_of_metrics_;
  // How many metrics metrics_table.json has.
  std::size_t written_metrics_ = 0;
  ProgressTracker tracker_;
  Progress progress_;
  // Where a run that goes on had come to.
  Progress earlier_;
  Extent extent_;
  runtime::TimePoint training_started_ = {};
  runtime::TimePoint next_scrape_ = {};
  runtime::TimePoint next_evaluation_ = {};
  runtime::TimePoint next_record_ = {};
  // How many evaluations were started, and how many results of versions were noted.
  std::int64_t evaluations_ = 0;
  std::int64_t noted_ = 0;
  // The tables of the final evaluation, and the last line of output.
  std::string table_;
  std::string result_;
  bool good_enough_ = false;
  // False once an evaluation has failed in a way in which every other would fail.
  bool judges_on_the_way_ = true;
  // Null where evaluations go by time or judge the newest version.
  std::unique_ptr<EvaluationSchedule> schedule_;
  // Those that the evaluation under way plays, and those that it or an earlier one played and that
  // wait to be judged or to be played again, in their order.
  std::vector<Candidate> playing_;
  std::deque<Candidate> played_;
  // A version was given up since versions were taken last.
  bool lost_one_ = false;
  // The parameters that were judged last, and the run's environment steps when they were published;
  // without a schedule, when the last evaluation began.
  std::string judged_version_ = "learned";
  double judged_steps_ = 0;
  // The evaluation that runs plays fresh episodes of a policy that was good enough.
  bool confirming_ = false;
  // Whether inference servers tell of their parameters, and whether one has ever had some.
  bool knows_servers_ = false;
  bool saw_policy_ = false;
  bool stopped_ = false;
  // The exit code of a run that cannot go on.
  int failed_code_ = runtime::kExitConfiguration;
};

}  // namespace shoal::cli
