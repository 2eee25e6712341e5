// SPDX-License-Identifier: Apache-2.0
#include "encoder/tuning.h"

#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>
#include <sstream>
#include <string_view>
#include <utility>

#include "encoder/lexical_commands.h"
#include "encoder/retrieval_task.h"
#include "encoder/schema_descriptions.h"
#include "redfish/capture/archive.h"
#include "redfish/capture/capture_path.h"
#include "redfish/capture/capture_roles.h"
#include "text/embedding/adapter.h"
#include "text/embedding/make_text_encoder.h"

namespace shoal::encoder {
namespace {

constexpr const char* kSentenceBase = "sentence";
constexpr std::string_view kArchiveEnd = ".tar.xz";
constexpr std::int64_t kMaxVariants = 1000;
constexpr std::int64_t kMaxEpisodes = 1000000;

absl::StatusOr<std::vector<std::string>> ShippedCaptures(const std::string& data) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator it(data + "/captures", error);
  for (const std::filesystem::directory_iterator end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.ends_with(kArchiveEnd)) names.push_back(redfish::ArchiveName(name));
  }
  if (error) return runtime::NotFound(data + "/captures: " + error.message());
  std::ranges::sort(names);
  return names;
}

bool IsVariant(const std::string& named) { return named.find('~') != named.npos; }

class Tuning {
 public:
  Tuning(const TuningOptions& options, std::ostream& out) : options_(options), out_(out) {}

  absl::Status Run() {
    SHOAL_RETURN_IF_ERROR(options_.Validate());
    SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> captures, CapturesToTuneOn(options_));
    SHOAL_ASSIGN_OR_RETURN(schema_, redfish::Schema::Load(options_.schema));
    SHOAL_ASSIGN_OR_RETURN(suite_, redfish::LoadGoals(options_.data + "/goals"));
    if (!options_.descriptions.empty()) {
      SHOAL_ASSIGN_OR_RETURN(descriptions_, SchemaDescriptions::Load(options_.descriptions));
    }
    SHOAL_RETURN_IF_ERROR(MakeBase(captures));
    for (const std::string& capture : captures) {
      SHOAL_RETURN_IF_ERROR(AddSet(capture, options_.episodes, true));
      for (std::int64_t seed = 1; seed <= options_.variants && !IsVariant(capture); ++seed) {
        SHOAL_RETURN_IF_ERROR(AddSet(capture + "~" + std::to_string(seed),
                                     std::max<std::int64_t>(options_.episodes / 2, 1), false));
      }
    }
    SHOAL_ASSIGN_OR_RETURN(TrainedMaps maps, TrainAdapter(sets_, options_.trainer, Observer()));
    embedding::AdapterParameters adapter{.base = options_.source.encoder,
                                         .base_version = base_->version(),
                                         .base_size = base_->dimension(),
                                         .size = options_.trainer.size,
                                         .base_share = options_.base_share,
                                         .captures = {},
                                         .sentences = std::move(maps.sentences),
                                         .requests = std::move(maps.requests)};
    for (const std::string& capture : captures) {
      adapter.captures.push_back(redfish::ArchiveName(capture));
    }
    SHOAL_RETURN_IF_ERROR(embedding::WriteAdapter(options_.output, adapter));
    out_ << absl::StrFormat(
        "result output=%s base=%s captures=%d sets=%d seed=%d steps=%d loss=%.4f "
        "temperature=%.3f\n",
        options_.output, adapter.base, adapter.captures.size(), sets_.size(), options_.trainer.seed,
        options_.trainer.steps, maps.loss, maps.temperature);
    return absl::OkStatus();
  }

 private:
  absl::Status MakeBase(const std::vector<std::string>& captures) {
    embedding::EncoderSource source = options_.source;
    if (source.encoder != kSentenceBase) {
      source.encoder_table = options_.output + "/" + embedding::kAdapterTable;
      FitOptions fit{{}, options_.schema, source.encoder_table};
      for (const std::string& capture : captures) {
        SHOAL_ASSIGN_OR_RETURN(std::string path, redfish::FindCapture(capture, options_.data));
        fit.captures.push_back(std::move(path));
      }
      std::ostringstream ignored;
      SHOAL_RETURN_IF_ERROR(FitLexical(fit, ignored));
    }
    SHOAL_ASSIGN_OR_RETURN(base_, embedding::MakeTextEncoder(source, options_.cache, nullptr));
    out_ << "base " << base_->version() << std::endl;
    return absl::OkStatus();
  }

  absl::Status AddSet(const std::string& named, std::int64_t episodes, bool with_descriptions) {
    SHOAL_ASSIGN_OR_RETURN(const RetrievalSource source,
                           RetrievalSource::Load(named, options_.data, *schema_, suite_));
    SHOAL_ASSIGN_OR_RETURN(RetrievalTask task, source.Draw({.split = redfish::Split::kTrain,
                                                            .episodes = episodes,
                                                            .seed = options_.trainer.seed}));
    const std::size_t sentences = task.queries.size();
    TuningSet set;
    for (std::size_t i = 0; i < sentences; ++i) {
      if (i == 0 || task.queries[i].group != task.queries[i - 1].group) set.goals.emplace_back();
      set.goals.back().push_back(static_cast<std::int64_t>(i));
    }
    if (with_descriptions && descriptions_ != nullptr) {
      for (RetrievalQuery& query : source.Described(*descriptions_).queries) {
        set.descriptions.push_back(static_cast<std::int64_t>(task.queries.size()));
        task.queries.push_back(std::move(query));
      }
    }
    std::vector<std::string_view> texts;
    for (const RetrievalQuery& query : task.queries) {
      texts.push_back(query.text);
      set.relevant.push_back(query.relevant);
    }
    SHOAL_ASSIGN_OR_RETURN(set.queries, base_->Encode(texts));
    texts.assign(task.requests.begin(), task.requests.end());
    SHOAL_ASSIGN_OR_RETURN(set.requests, base_->Encode(texts));
    out_ << absl::StrFormat("%-28s %6d requests %6d sentences of %2d goals %5d descriptions\n",
                            task.capture, texts.size(), sentences, set.goals.size(),
                            set.descriptions.size());
    out_.flush();
    sets_.push_back(std::move(set));
    return absl::OkStatus();
  }

  TuningObserver Observer() {
    const std::int64_t every = std::max<std::int64_t>(options_.trainer.steps / 10, 1);
    return [this, every](std::int64_t step, double loss) {
      if (step % every != 0 && step != options_.trainer.steps) return;
      out_ << absl::StrFormat("step %d of %d loss %.4f\n", step, options_.trainer.steps, loss);
      out_.flush();
    };
  }

  const TuningOptions& options_;
  std::ostream& out_;
  std::shared_ptr<const redfish::Schema> schema_;
  redfish::GoalSuite suite_;
  std::unique_ptr<const SchemaDescriptions> descriptions_;
  std::unique_ptr<tokens::TextEncoder> base_;
  std::vector<TuningSet> sets_;
};

}  // namespace

absl::Status TuningOptions::Validate() const {
  if (source.encoder != "lexical" && source.encoder != kSentenceBase &&
      source.encoder != "both:sentence") {
    return runtime::InvalidArgument("--encoder is '" + source.encoder +
                                    "' and may be lexical, sentence or both:sentence");
  }
  if (output.empty()) return runtime::InvalidArgument("--output names no folder");
  if (variants < 0 || variants > kMaxVariants) {
    return runtime::InvalidArgument("--variants is not within 0 and " +
                                    std::to_string(kMaxVariants));
  }
  if (episodes < 1 || episodes > kMaxEpisodes) {
    return runtime::InvalidArgument("--episodes is not within 1 and " +
                                    std::to_string(kMaxEpisodes));
  }
  if (!(base_share >= 0 && base_share <= 1)) {
    return runtime::InvalidArgument("--base-share is not within 0 and 1");
  }
  return trainer.Validate();
}

absl::StatusOr<std::vector<std::string>> CapturesToTuneOn(const TuningOptions& options) {
  std::vector<std::string> captures = options.captures;
  if (captures.empty()) {
    SHOAL_ASSIGN_OR_RETURN(captures, ShippedCaptures(options.data));
  }
  for (const std::string& held_out : options.hold_out) {
    const std::size_t before = captures.size();
    std::vector<std::string> left = redfish::TrainingCaptures(captures, held_out);
    if (left.size() == before) {
      return runtime::InvalidArgument(
          "hold-out '" + held_out + "' is none of the captures: " + absl::StrJoin(captures, ", "));
    }
    captures = std::move(left);
  }
  if (captures.empty()) return runtime::InvalidArgument("no capture is left to learn from");
  return captures;
}

absl::Status Tune(const TuningOptions& options, std::ostream& out) {
  return Tuning(options, out).Run();
}

}  // namespace shoal::encoder
