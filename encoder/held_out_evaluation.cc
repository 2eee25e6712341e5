// SPDX-License-Identifier: Apache-2.0
#include "encoder/held_out_evaluation.h"

#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <cmath>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>

#include "encoder/own_phrasings.h"
#include "encoder/retrieval_scores.h"
#include "encoder/retrieval_task.h"
#include "encoder/said_sentence.h"
#include "redfish/capture/archive.h"
#include "text/embedding/adapter.h"
#include "text/embedding/make_text_encoder.h"

namespace shoal::encoder {
namespace {

constexpr const char* kTuned = "tuned";

// One kind of sentences, and the mean scores on them of each encoder by capture.
struct Kind {
  const char* name;
  std::map<std::string, std::vector<RetrievalScore>> scores = {};
};

// Returns the encoders to compare, from the weakest on.
std::vector<std::string> EncodersOver(const std::string& base) {
  std::vector<std::string> encoders = {"lexical"};
  if (base != "lexical") encoders.push_back("sentence");
  if (base == "both:sentence") encoders.push_back(base);
  encoders.push_back(kTuned);
  return encoders;
}

double Deviation(const std::vector<RetrievalScore>& scores) {
  if (scores.size() < 2) return 0;
  const double mean = MeanOf(scores).reciprocal_rank;
  double sum = 0;
  for (const RetrievalScore& score : scores) {
    sum += (score.reciprocal_rank - mean) * (score.reciprocal_rank - mean);
  }
  return std::sqrt(sum / static_cast<double>(scores.size() - 1));
}

class HeldOutEvaluation {
 public:
  HeldOutEvaluation(const HeldOutOptions& options, std::ostream& out)
      : options_(options), out_(out) {}

  absl::Status Run() {
    SHOAL_ASSIGN_OR_RETURN(schema_, redfish::Schema::Load(options_.tuning.schema));
    SHOAL_ASSIGN_OR_RETURN(suite_, redfish::LoadGoals(options_.tuning.data + "/goals"));
    if (!options_.said.empty()) {
      SHOAL_ASSIGN_OR_RETURN(said_, ReadSaidSentences(options_.said));
    }
    if (!options_.phrasings.empty()) {
      SHOAL_ASSIGN_OR_RETURN(own_, ReadOwnPhrasings(suite_, options_.phrasings));
    }
    for (const std::string& held_out : options_.held_out) {
      SHOAL_RETURN_IF_ERROR(OfCapture(held_out));
    }
    std::string result = absl::StrFormat("result held_out=%s seeds=%d",
                                         absl::StrJoin(options_.held_out, ","), options_.seeds);
    for (const Kind* kind : {&evaluation_, &own_words_, &said_words_}) {
      for (const auto& [encoder, scores] : kind->scores) {
        const RetrievalScore mean = MeanOf(scores);
        const std::string name =
            absl::StrFormat("%s_%s", kind->name, encoder.substr(0, encoder.find(':')));
        absl::StrAppendFormat(&result, " %s_top1=%.4f %s_top5=%.4f %s_mrr=%.4f", name, mean.top1,
                              name, mean.top5, name, mean.reciprocal_rank);
      }
    }
    out_ << result << '\n';
    return absl::OkStatus();
  }

 private:
  std::string FolderOf(const std::string& held_out, std::int64_t seed) const {
    return options_.work + "/" + redfish::ArchiveName(held_out) + "-" + std::to_string(seed);
  }

  absl::Status OfCapture(const std::string& held_out) {
    TuningOptions tuning = options_.tuning;
    tuning.hold_out.push_back(held_out);
    std::vector<std::string> folders;
    for (std::int64_t seed = 1; seed <= options_.seeds; ++seed) {
      tuning.trainer.seed = static_cast<std::uint64_t>(seed);
      tuning.output = FolderOf(held_out, seed);
      out_ << "tuning without " << held_out << ", seed " << seed << std::endl;
      std::ostringstream ignored;
      SHOAL_RETURN_IF_ERROR(Tune(tuning, ignored));
      folders.push_back(tuning.output);
    }
    SHOAL_ASSIGN_OR_RETURN(const RetrievalSource source,
                           RetrievalSource::Load(held_out, options_.tuning.data, *schema_, suite_));
    const RetrievalDraws draws{.episodes = options_.episodes, .seed = options_.seed};
    SHOAL_ASSIGN_OR_RETURN(const RetrievalTask task, source.Draw(draws));
    SHOAL_RETURN_IF_ERROR(Measure(task, folders, evaluation_));
    SHOAL_ASSIGN_OR_RETURN(const RetrievalTask said, source.DrawFor(said_, draws));
    SHOAL_RETURN_IF_ERROR(Measure(said, folders, said_words_));
    if (own_.goals.empty()) return absl::OkStatus();
    SHOAL_ASSIGN_OR_RETURN(
        const RetrievalSource own,
        RetrievalSource::Load(held_out, options_.tuning.data, *schema_, own_.suite));
    SHOAL_ASSIGN_OR_RETURN(
        const RetrievalTask task_of_own,
        own.Draw({.goals = own_.goals, .episodes = options_.episodes, .seed = options_.seed}));
    return Measure(task_of_own, folders, own_words_);
  }

  absl::StatusOr<RetrievalScores> ScoresWith(const std::string& encoder, const std::string& folder,
                                             const RetrievalTask& task) const {
    embedding::EncoderSource source = options_.tuning.source;
    source.encoder = encoder == kTuned ? "tuned:" + folder : encoder;
    // A base without a lexical part has no table in its folder.
    if (options_.tuning.source.encoder != "sentence") {
      source.encoder_table = folder + "/" + embedding::kAdapterTable;
    }
    SHOAL_ASSIGN_OR_RETURN(const auto made,
                           embedding::MakeTextEncoder(source, options_.tuning.cache, nullptr));
    return ScoresOf(*made, task);
  }

  absl::Status Measure(const RetrievalTask& task, const std::vector<std::string>& folders,
                       Kind& kind) {
    if (task.queries.empty()) return absl::OkStatus();
    out_ << absl::StrFormat("%-22s %-10s %-14s %8s %6s %7s %6s %6s %6s %6s\n", "capture",
                            "sentences", "encoder", "requests", "goals", "queries", "top-1",
                            "top-5", "MRR", "+-");
    for (const std::string& encoder : EncodersOver(options_.tuning.source.encoder)) {
      std::vector<RetrievalScore> scores;
      for (std::size_t seed = 0; seed < (encoder == kTuned ? folders.size() : 1); ++seed) {
        SHOAL_ASSIGN_OR_RETURN(const RetrievalScores scored,
                               ScoresWith(encoder, folders[seed], task));
        scores.push_back(scored.mean);
        if (seed == 0) PrintGoals(encoder, scored);
      }
      const RetrievalScore mean = MeanOf(scores);
      kind.scores[encoder].push_back(mean);
      out_ << absl::StrFormat("%-22s %-10s %-14s %8d %6d %7d %6.3f %6.3f %6.3f %6.3f\n",
                              task.capture, kind.name, encoder, task.requests.size(),
                              GroupCount(task), task.queries.size(), mean.top1, mean.top5,
                              mean.reciprocal_rank, Deviation(scores));
      out_.flush();
    }
    return absl::OkStatus();
  }

  static std::size_t GroupCount(const RetrievalTask& task) {
    std::set<std::string> groups;
    for (const RetrievalQuery& query : task.queries) groups.insert(query.group);
    return groups.size();
  }

  void PrintGoals(const std::string& encoder, const RetrievalScores& scores) {
    if (!options_.by_goal) return;
    for (const auto& group : scores.groups) {
      out_ << absl::StrFormat("  %-31s %-41s %6.3f %6.3f %6.3f\n", group.first, encoder,
                              group.second.top1, group.second.top5, group.second.reciprocal_rank);
    }
  }

  const HeldOutOptions& options_;
  std::ostream& out_;
  std::shared_ptr<const redfish::Schema> schema_;
  redfish::GoalSuite suite_;
  std::vector<SaidSentence> said_;
  OwnPhrasings own_;
  Kind evaluation_{"evaluation"};
  Kind own_words_{"own_words"};
  Kind said_words_{"said"};
};

}  // namespace

absl::Status EvaluateHeldOut(const HeldOutOptions& options, std::ostream& out) {
  if (options.held_out.empty()) return runtime::InvalidArgument("no capture is held out");
  if (options.seeds < 1) return runtime::InvalidArgument("--seeds is not at least 1");
  if (options.episodes < 1) return runtime::InvalidArgument("--episodes is not at least 1");
  return HeldOutEvaluation(options, out).Run();
}

}  // namespace shoal::encoder
