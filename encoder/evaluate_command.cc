// SPDX-License-Identifier: Apache-2.0
#include "encoder/evaluate_command.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <set>
#include <utility>

#include "encoder/own_phrasings.h"
#include "encoder/retrieval_scores.h"
#include "encoder/retrieval_task.h"
#include "encoder/said_sentence.h"
#include "encoder/tune_command.h"
#include "redfish/goals/goal.h"
#include "redfish/schema/schema.h"
#include "text/embedding/make_text_encoder.h"

namespace shoal::encoder {
namespace {

class Evaluation {
 public:
  Evaluation(const EvaluateOptions& options, std::ostream& out) : options_(options), out_(out) {}

  absl::Status Run() {
    SHOAL_ASSIGN_OR_RETURN(encoder_, embedding::MakeTextEncoder(
                                         options_.source, options_.held_out.tuning.cache, nullptr));
    SHOAL_ASSIGN_OR_RETURN(schema_, redfish::Schema::Load(options_.schema));
    SHOAL_ASSIGN_OR_RETURN(suite_, redfish::LoadGoals(options_.data + "/goals"));
    if (!options_.said.empty()) {
      SHOAL_ASSIGN_OR_RETURN(said_, ReadSaidSentences(options_.said));
    }
    if (!options_.phrasings.empty()) {
      SHOAL_ASSIGN_OR_RETURN(OwnPhrasings own, ReadOwnPhrasings(suite_, options_.phrasings));
      suite_ = std::move(own.suite);
      goals_ = std::move(own.goals);
    }
    out_ << absl::StrFormat("%-26s %8s %6s %8s %6s %6s %6s\n", "capture", "requests", "goals",
                            "episodes", "top-1", "top-5", "MRR");
    for (const std::string& capture : options_.captures) {
      SHOAL_RETURN_IF_ERROR(OfCapture(capture));
    }
    const RetrievalScore mean = MeanOf(scores_);
    out_ << absl::StrFormat(
        "result encoder=%s version=%s split=%s captures=%d top1=%.4f top5=%.4f mrr=%.4f "
        "longest_catalog_seconds=%.1f\n",
        options_.source.encoder, encoder_->version(), options_.split, scores_.size(), mean.top1,
        mean.top5, mean.reciprocal_rank, seconds_);
    return absl::OkStatus();
  }

 private:
  absl::Status OfCapture(const std::string& named) {
    SHOAL_ASSIGN_OR_RETURN(const RetrievalSource source,
                           RetrievalSource::Load(named, options_.data, *schema_, suite_));
    const RetrievalDraws draws{
        .split = options_.split == "train" ? redfish::Split::kTrain : redfish::Split::kEvaluate,
        .goals = goals_,
        .episodes = options_.episodes,
        .seed = options_.seed};
    auto task = options_.said.empty() ? source.Draw(draws) : source.DrawFor(said_, draws);
    if (!task.ok()) return task.status();
    SHOAL_ASSIGN_OR_RETURN(const RetrievalScores scores, ScoresOf(*encoder_, *task));
    seconds_ = std::max(seconds_, scores.seconds);
    if (options_.by_goal) {
      for (const auto& group : scores.groups) {
        const auto episodes =
            std::ranges::count(task->queries, group.first, &RetrievalQuery::group);
        Print("  " + group.first, task->requests.size(), 1, static_cast<std::size_t>(episodes),
              group.second);
      }
    }
    Print(task->capture, task->requests.size(), scores.groups.size(), task->queries.size(),
          scores.mean);
    scores_.push_back(scores.mean);
    return absl::OkStatus();
  }

  void Print(const std::string& name, std::size_t requests, std::size_t goals, std::size_t episodes,
             const RetrievalScore& score) {
    out_ << absl::StrFormat("%-26s %8d %6d %8d %6.3f %6.3f %6.3f\n", name, requests, goals,
                            episodes, score.top1, score.top5, score.reciprocal_rank);
    out_.flush();
  }

  const EvaluateOptions& options_;
  std::ostream& out_;
  std::unique_ptr<tokens::TextEncoder> encoder_;
  std::shared_ptr<const redfish::Schema> schema_;
  redfish::GoalSuite suite_;
  std::set<std::string> goals_;
  std::vector<SaidSentence> said_;
  std::vector<RetrievalScore> scores_;
  // The longest time that one catalog took.
  double seconds_ = 0;
};

}  // namespace

absl::Status Evaluate(const EvaluateOptions& options, std::ostream& out) {
  if (!options.held_out.held_out.empty()) {
    HeldOutOptions held_out = options.held_out;
    held_out.tuning.source.encoder_sentences = options.source.encoder_sentences;
    held_out.tuning.source.encoder_precision = options.source.encoder_precision;
    held_out.tuning.captures = options.captures;
    held_out.tuning.data = options.data;
    held_out.tuning.schema = options.schema;
    held_out.said = options.said;
    held_out.phrasings = options.phrasings;
    held_out.episodes = options.episodes;
    held_out.seed = options.seed;
    held_out.by_goal = options.by_goal;
    return EvaluateHeldOut(held_out, out);
  }
  if (options.captures.empty()) {
    return runtime::InvalidArgument("evaluate needs at least one capture, or --held-out");
  }
  if (!options.phrasings.empty() && (!options.said.empty() || options.split != "evaluate")) {
    return runtime::InvalidArgument(
        "--phrasings takes the place of the evaluation's phrasings, and goes neither with --said "
        "nor with --split train");
  }
  return Evaluation(options, out).Run();
}

void AddEvaluateCommand(CLI::App& app, Action& action) {
  const auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command =
      app.add_subcommand("evaluate", "How well an encoder finds a goal's requests by its sentence");
  command->add_option("--encoder", options->source.encoder, "As the knob inference.encoder")
      ->capture_default_str();
  command->add_option("--table", options->source.encoder_table, "IDF table of the lexical encoder")
      ->capture_default_str();
  command
      ->add_option("--sentences", options->source.encoder_sentences,
                   "Folder of the sentence encoder")
      ->capture_default_str();
  command
      ->add_option("--precision", options->source.encoder_precision,
                   "As the knob inference.encoder_precision")
      ->capture_default_str();
  command->add_option("--captures", options->captures,
                      "Names, archives or folders; with --held-out, what is learned from");
  command->add_option("--data", options->data, "Folder with captures/ and goals/")
      ->capture_default_str();
  command->add_option("--schema", options->schema, "Schema table")->capture_default_str();
  command->add_option("--split", options->split, "Which phrasings are drawn: train or evaluate")
      ->check(CLI::IsMember({"train", "evaluate"}))
      ->capture_default_str();
  command->add_option("--episodes", options->episodes, "Of each goal on each capture")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the episodes")->capture_default_str();
  command->add_flag("--by-goal", options->by_goal, "Also print a row for each goal");
  command->add_option("--said", options->said,
                      "File of people's sentences to measure on, instead of phrasings or, with "
                      "--held-out, beside them");
  command->add_option("--phrasings", options->phrasings,
                      "TOML file of people's sentences by goal, as `shoal evaluate` takes it: "
                      "instead of the evaluation's or, with --held-out, beside them");
  HeldOutOptions& held_out = options->held_out;
  command->add_option("--held-out", held_out.held_out,
                      "Measure on these captures, with adapters tuned on the others");
  command->add_option("--without", held_out.tuning.hold_out,
                      "Further captures that adapters do not learn from");
  command
      ->add_option("--base", held_out.tuning.source.encoder,
                   "Of the adapters: lexical, sentence or both:sentence")
      ->capture_default_str();
  command->add_option("--seeds", held_out.seeds, "Adapters of each held-out capture")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--work", held_out.work, "Folder of these adapters")->capture_default_str();
  AddTuningFlags(*command, held_out.tuning);
  Bind(*command, action, options, Evaluate);
}

}  // namespace shoal::encoder
