// SPDX-License-Identifier: Apache-2.0
#include "encoder/evaluate_command.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <ostream>
#include <set>
#include <span>
#include <string_view>

#include "encoder/expert_requests.h"
#include "encoder/retrieval.h"
#include "platform/runtime/tensor.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_path.h"
#include "redfish/catalog/catalog.h"
#include "redfish/goals/goal.h"
#include "redfish/schema/schema.h"
#include "text/embedding/make_text_encoder.h"

namespace shoal::encoder {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The vectors of texts, row after row.
class Rows {
 public:
  static absl::StatusOr<Rows> Of(const tokens::TextEncoder& encoder,
                                 std::span<const std::string_view> texts) {
    SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor encoded, encoder.Encode(texts));
    Rows rows;
    rows.width_ = static_cast<std::size_t>(encoder.dimension());
    rows.values_.resize(encoded.size());
    const auto* halves = reinterpret_cast<const std::uint16_t*>(encoded.bytes().data());
    std::transform(halves, halves + encoded.size(), rows.values_.begin(), runtime::FromHalf);
    return rows;
  }

  // Returns the inner product of `query` with each row.
  std::vector<float> Scores(std::span<const float> query) const {
    std::vector<float> scores;
    for (std::size_t begin = 0; begin < values_.size(); begin += width_) {
      scores.push_back(std::inner_product(
          query.begin(), query.end(), values_.begin() + static_cast<std::ptrdiff_t>(begin), 0.0F));
    }
    return scores;
  }

  std::span<const float> row(std::size_t number) const {
    return std::span(values_).subspan(number * width_, width_);
  }

 private:
  std::size_t width_ = 0;
  std::vector<float> values_;
};

std::string Cells(const std::string& name, std::int64_t requests, std::int64_t goals,
                  std::int64_t episodes, const RetrievalScore& score) {
  return absl::StrFormat("%-26s %8d %6d %8d %6.3f %6.3f %6.3f\n", name, requests, goals, episodes,
                         score.top1, score.top5, score.reciprocal_rank);
}

std::set<std::int64_t> RelevantCandidates(const redfish::Catalog& catalog,
                                          const std::vector<redfish::PlanRequest>& requests) {
  std::set<std::int64_t> relevant;
  for (std::size_t i = 0; i < catalog.size(); ++i) {
    const bool asked = std::ranges::any_of(requests, [&](const redfish::PlanRequest& request) {
      return IsLike(catalog.candidates()[i], request);
    });
    if (asked) relevant.insert(static_cast<std::int64_t>(i));
  }
  return relevant;
}

class Evaluation {
 public:
  Evaluation(const EvaluateOptions& options, const tokens::TextEncoder& encoder,
             const redfish::Schema& schema, const redfish::GoalSuite& suite, std::ostream& out)
      : options_(options), encoder_(encoder), schema_(schema), suite_(suite), out_(out) {}

  absl::StatusOr<RetrievalScore> OfCapture(const std::string& named) {
    SHOAL_ASSIGN_OR_RETURN(const std::string path, redfish::FindCapture(named, options_.data));
    SHOAL_ASSIGN_OR_RETURN(const auto capture, redfish::Capture::Load(path));
    SHOAL_ASSIGN_OR_RETURN(const auto catalog, redfish::Catalog::Build(*capture, schema_));
    std::vector<std::string_view> texts;
    for (const redfish::Candidate& candidate : catalog->candidates()) {
      texts.push_back(candidate.text);
    }
    const auto start = SteadyClock::now();
    SHOAL_ASSIGN_OR_RETURN(const Rows requests, Rows::Of(encoder_, texts));
    const std::chrono::duration<double> elapsed = SteadyClock::now() - start;
    seconds_ = std::max(seconds_, elapsed.count());
    SHOAL_ASSIGN_OR_RETURN(const auto goals, redfish::ApplyGoals(suite_, *capture));
    std::vector<RetrievalScore> scores;
    std::int64_t episodes = 0;
    for (const auto& goal : goals) {
      SHOAL_ASSIGN_OR_RETURN(const std::vector<std::int64_t> ranks,
                             RanksOf(*capture, *catalog, *goal, requests));
      if (ranks.empty()) continue;
      scores.push_back(ScoreOfRanks(ranks));
      const auto count = static_cast<std::int64_t>(ranks.size());
      if (options_.by_goal) {
        out_ << Cells("  " + goal->goal().name(), Count(*catalog), 1, count, scores.back());
      }
      episodes += count;
    }
    const RetrievalScore mean = MeanOf(scores);
    out_ << Cells(capture->name(), Count(*catalog), static_cast<std::int64_t>(scores.size()),
                  episodes, mean);
    out_.flush();
    return mean;
  }

  // The longest time that one catalog took.
  double seconds() const { return seconds_; }

 private:
  static std::int64_t Count(const redfish::Catalog& catalog) {
    return static_cast<std::int64_t>(catalog.size());
  }

  absl::StatusOr<std::vector<std::int64_t>> RanksOf(const redfish::Capture& capture,
                                                    const redfish::Catalog& catalog,
                                                    const redfish::AppliedGoal& goal,
                                                    const Rows& requests) const {
    const auto split =
        options_.split == "train" ? redfish::Split::kTrain : redfish::Split::kEvaluate;
    std::vector<std::int64_t> ranks;
    for (std::int64_t number = 0; number < options_.episodes; ++number) {
      SHOAL_ASSIGN_OR_RETURN(
          const redfish::Episode episode,
          goal.DrawEpisode(options_.seed, static_cast<std::uint64_t>(number), split));
      SHOAL_ASSIGN_OR_RETURN(const auto expert, ExpertRequests(capture, goal, episode));
      const std::set<std::int64_t> relevant = RelevantCandidates(catalog, expert);
      if (relevant.empty()) continue;
      const std::string_view text = episode.text;
      SHOAL_ASSIGN_OR_RETURN(const Rows query, Rows::Of(encoder_, {&text, 1}));
      ranks.push_back(RankOfFirst(requests.Scores(query.row(0)), relevant));
    }
    return ranks;
  }

  const EvaluateOptions& options_;
  const tokens::TextEncoder& encoder_;
  const redfish::Schema& schema_;
  const redfish::GoalSuite& suite_;
  std::ostream& out_;
  double seconds_ = 0;
};

}  // namespace

absl::Status Evaluate(const EvaluateOptions& options, std::ostream& out) {
  if (options.captures.empty()) {
    return runtime::InvalidArgument("evaluate needs at least one capture");
  }
  SHOAL_ASSIGN_OR_RETURN(const auto encoder,
                         embedding::MakeTextEncoder(options.source, {}, nullptr));
  SHOAL_ASSIGN_OR_RETURN(const auto schema, redfish::Schema::Load(options.schema));
  SHOAL_ASSIGN_OR_RETURN(const redfish::GoalSuite suite,
                         redfish::LoadGoals(options.data + "/goals"));
  out << absl::StrFormat("%-26s %8s %6s %8s %6s %6s %6s\n", "capture", "requests", "goals",
                         "episodes", "top-1", "top-5", "MRR");
  Evaluation evaluation(options, *encoder, *schema, suite, out);
  std::vector<RetrievalScore> scores;
  for (const std::string& capture : options.captures) {
    SHOAL_ASSIGN_OR_RETURN(const RetrievalScore score, evaluation.OfCapture(capture));
    scores.push_back(score);
  }
  const RetrievalScore mean = MeanOf(scores);
  out << absl::StrFormat(
      "result encoder=%s version=%s split=%s captures=%d top1=%.4f top5=%.4f mrr=%.4f "
      "longest_catalog_seconds=%.1f\n",
      options.source.encoder, encoder->version(), options.split, scores.size(), mean.top1,
      mean.top5, mean.reciprocal_rank, evaluation.seconds());
  return absl::OkStatus();
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
  command->add_option("--captures", options->captures, "Names, archives or folders")->required();
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
  Bind(*command, action, options, Evaluate);
}

}  // namespace shoal::encoder
