// SPDX-License-Identifier: Apache-2.0
#include "encoder/body_evaluation.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

#include "encoder/linear_probe.h"
#include "encoder/property_values.h"
#include "platform/runtime/random.h"
#include "platform/runtime/tensor.h"
#include "text/embedding/make_text_encoder.h"

namespace shoal::encoder {
namespace {

using nlohmann::json;
using Bodies = std::vector<const json*>;

// The share of properties that a view of a twin lacks.
constexpr double kLeftOut = 0.15;
// Encoders take this many texts in one call, as inference does.
constexpr std::size_t kTextsOfCall = 64;

Bodies AllOf(const std::vector<CaptureBodies>& captures) {
  Bodies all;
  for (const CaptureBodies& capture : captures) {
    for (const json& body : capture.bodies) all.push_back(&body);
  }
  return all;
}

// Returns the vectors of `texts`, row after row.
absl::StatusOr<std::vector<float>> VectorsOf(const tokens::TextEncoder& encoder,
                                             const std::vector<std::string>& texts) {
  std::vector<float> rows;
  for (std::size_t begin = 0; begin < texts.size(); begin += kTextsOfCall) {
    const std::size_t end = std::min(begin + kTextsOfCall, texts.size());
    const std::vector<std::string_view> slice(texts.begin() + static_cast<std::ptrdiff_t>(begin),
                                              texts.begin() + static_cast<std::ptrdiff_t>(end));
    SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor encoded, encoder.Encode(slice));
    const std::size_t before = rows.size();
    rows.resize(before + encoded.size());
    runtime::ToFloats(encoded.dtype(), encoded.bytes(), std::span(rows).subspan(before));
  }
  return rows;
}

float Product(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0F);
}

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

class BodyScoring {
 public:
  BodyScoring(const BodyEvaluationOptions& options, const tokens::TextEncoder& encoder,
              const Bodies& training, const Bodies& measured)
      : options_(options),
        encoder_(encoder),
        training_(training),
        measured_(measured),
        values_(training),
        measured_values_(measured),
        width_(static_cast<std::size_t>(encoder.dimension())) {}

  absl::StatusOr<BodyScore> Score() {
    SHOAL_RETURN_IF_ERROR(ScoreSpeedAndSame());
    SHOAL_RETURN_IF_ERROR(ScoreTwins());
    SHOAL_RETURN_IF_ERROR(ScoreValues());
    return score_;
  }

 private:
  std::span<const float> Row(const std::vector<float>& rows, std::size_t row) const {
    return std::span(rows).subspan(row * width_, width_);
  }

  // Bodies of the measured captures, each with one property changed.
  struct Changed {
    std::size_t number = 0;
    json body;
    PropertyPlace place;
  };
  std::vector<Changed> DrawChanged(std::string_view purpose) const {
    runtime::Random random(runtime::DeriveSeed(options_.seed, purpose));
    std::vector<std::size_t> order(measured_.size());
    std::iota(order.begin(), order.end(), 0);
    runtime::Shuffle(std::span(order), random);
    std::vector<Changed> drawn;
    for (const std::size_t number : order) {
      if (drawn.size() == static_cast<std::size_t>(options_.bodies)) break;
      json body = *measured_[number];
      auto place = measured_values_.ChangeOne(body, random);
      if (place) drawn.push_back({number, std::move(body), *std::move(place)});
    }
    return drawn;
  }

  absl::Status ScoreSpeedAndSame();
  absl::Status ScoreTwins();
  absl::Status ScoreValues();
  // Makes bodies that hold one of both values, half of them each.
  absl::StatusOr<LabelledRows> Examples(const Bodies& bodies, const std::string& name,
                                        const json& first, const json& second,
                                        std::string_view purpose) const;

  const BodyEvaluationOptions& options_;
  const tokens::TextEncoder& encoder_;
  const Bodies& training_;
  const Bodies& measured_;
  const PropertyValues values_;
  const PropertyValues measured_values_;
  const std::size_t width_;
  BodyScore score_;
};

absl::Status BodyScoring::ScoreSpeedAndSame() {
  std::vector<std::string> texts;
  for (const json* body : measured_) texts.push_back(BodyText(*body));
  auto since = std::chrono::steady_clock::now();
  SHOAL_ASSIGN_OR_RETURN(const std::vector<float> all, VectorsOf(encoder_, texts));
  score_.first_per_second = static_cast<double>(texts.size()) / Seconds(since);
  const std::vector<Changed> changed = DrawChanged("same");
  if (changed.empty()) return absl::OkStatus();
  std::vector<std::string> queries;
  for (const Changed& one : changed) queries.push_back(BodyText(one.body));
  since = std::chrono::steady_clock::now();
  SHOAL_ASSIGN_OR_RETURN(const std::vector<float> rows, VectorsOf(encoder_, queries));
  score_.changed_per_second = static_cast<double>(queries.size()) / Seconds(since);
  double found = 0;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < texts.size(); ++k) {
      if (Product(Row(rows, i), Row(all, k)) > Product(Row(rows, i), Row(all, best))) best = k;
    }
    // Equal bodies at several places are one.
    if (texts[best] == texts[changed[i].number]) ++found;
  }
  score_.same = found / static_cast<double>(changed.size());
  return absl::OkStatus();
}

absl::Status BodyScoring::ScoreTwins() {
  const std::vector<Changed> changed = DrawChanged("twins");
  if (changed.empty()) return absl::OkStatus();
  runtime::Random random(runtime::DeriveSeed(options_.seed, "views"));
  std::vector<std::string> texts;
  for (const Changed& one : changed) {
    texts.push_back(BodyText(*measured_[one.number]));
    texts.push_back(BodyText(one.body));
    texts.push_back(BodyText(WithoutSome(one.body, one.place.pointer, kLeftOut, random)));
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<float> rows, VectorsOf(encoder_, texts));
  double right = 0;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const auto view = Row(rows, 3 * i + 2);
    const float other = Product(view, Row(rows, 3 * i));
    const float own = Product(view, Row(rows, 3 * i + 1));
    right += own > other ? 1 : own == other ? 0.5 : 0;
  }
  score_.twins = right / static_cast<double>(changed.size());
  return absl::OkStatus();
}

absl::StatusOr<LabelledRows> BodyScoring::Examples(const Bodies& bodies, const std::string& name,
                                                   const json& first, const json& second,
                                                   std::string_view purpose) const {
  runtime::Random random(runtime::DeriveSeed(options_.seed, std::string(purpose) + name));
  std::vector<std::pair<const json*, json::json_pointer>> holders;
  for (const json* body : bodies) {
    for (PropertyPlace& place : values_.PlacesIn(*body)) {
      if (place.name == name) holders.emplace_back(body, std::move(place.pointer));
    }
  }
  LabelledRows rows{.width = width_, .values = {}, .labels = {}};
  if (holders.empty()) return rows;
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < options_.examples; ++i) {
    const auto& holder = holders[random.Below(holders.size())];
    json body = *holder.first;
    const auto label = static_cast<std::uint8_t>(i % 2);
    body[holder.second] = label == 0 ? first : second;
    texts.push_back(BodyText(body));
    rows.labels.push_back(label);
  }
  SHOAL_ASSIGN_OR_RETURN(rows.values, VectorsOf(encoder_, texts));
  return rows;
}

absl::Status BodyScoring::ScoreValues() {
  // The most frequent properties of the training captures come first.
  std::vector<std::pair<std::size_t, std::string>> names;
  for (const auto& [name, values] : values_.properties()) {
    // The second value bounds how often both are seen.
    names.emplace_back(values[1].count, name);
  }
  std::ranges::stable_sort(names, std::ranges::greater(),
                           &std::pair<std::size_t, std::string>::first);
  double sum = 0;
  for (const auto& [unused, name] : names) {
    if (score_.properties == options_.properties) break;
    const std::vector<PropertyValues::Counted>& values = values_.properties().at(name);
    SHOAL_ASSIGN_OR_RETURN(const LabelledRows test, Examples(measured_, name, values[0].value,
                                                             values[1].value, "measured "));
    if (test.rows() == 0) continue;
    SHOAL_ASSIGN_OR_RETURN(const LabelledRows training,
                           Examples(training_, name, values[0].value, values[1].value, "fitted "));
    sum += ProbeAccuracy(training, test);
    ++score_.properties;
  }
  if (score_.properties == 0) {
    return runtime::InvalidArgument("no property is in both the training and the other captures");
  }
  score_.values = sum / static_cast<double>(score_.properties);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BodyScore> ScoreBodies(const BodyEvaluationOptions& options,
                                      const tokens::TextEncoder& encoder,
                                      const std::vector<CaptureBodies>& training,
                                      const std::vector<CaptureBodies>& captures) {
  const Bodies fitted = AllOf(training);
  const Bodies measured = AllOf(captures);
  return BodyScoring(options, encoder, fitted, measured).Score();
}

absl::Status EvaluateBodies(const BodyEvaluationOptions& options, std::ostream& out) {
  SHOAL_ASSIGN_OR_RETURN(const auto training, LoadBodies(options.training, options.data));
  SHOAL_ASSIGN_OR_RETURN(const auto captures, LoadBodies(options.captures, options.data));
  out << absl::StrFormat("%-36s %7s %6s %6s %6s %9s %9s\n", "encoder", "numbers", "values", "twins",
                         "same", "first/s", "changed/s");
  std::string results;
  for (const std::string& name : options.encoders) {
    embedding::EncoderSource source = options.source;
    source.encoder = name;
    SHOAL_ASSIGN_OR_RETURN(const auto encoder, embedding::MakeTextEncoder(source, {}, nullptr));
    SHOAL_ASSIGN_OR_RETURN(const BodyScore score,
                           ScoreBodies(options, *encoder, training, captures));
    out << absl::StrFormat("%-36s %7d %6.3f %6.3f %6.3f %9.0f %9.0f\n", name, encoder->dimension(),
                           score.values, score.twins, score.same, score.first_per_second,
                           score.changed_per_second);
    out.flush();
    results += absl::StrFormat(
        "result encoder=%s version=%s numbers=%d properties=%d values=%.4f twins=%.4f same=%.4f "
        "first_per_second=%.0f changed_per_second=%.0f\n",
        name, encoder->version(), encoder->dimension(), score.properties, score.values, score.twins,
        score.same, score.first_per_second, score.changed_per_second);
  }
  out << results;
  return absl::OkStatus();
}

void AddEvaluateBodiesCommand(CLI::App& app, Action& action) {
  const auto options = std::make_shared<BodyEvaluationOptions>();
  CLI::App& command = *app.add_subcommand(
      "evaluate-bodies", "What an encoder's vectors tell of the bodies of responses");
  const auto add = [&command](const char* flag, auto& value, const char* help) {
    return command.add_option(flag, value, help)->capture_default_str();
  };
  add("--encoders", options->encoders, "Values of the knob inference.body_encoder")->required();
  add("--table", options->source.encoder_table, "IDF table of the lexical encoder");
  add("--models", options->source.encoder_models, "Folder of presets");
  add("--sentences", options->source.encoder_sentences, "Folder of the sentence encoder");
  add("--precision", options->source.encoder_precision, "As the knob inference.encoder_precision");
  add("--training", options->training, "Captures that probes are fitted to")->required();
  add("--captures", options->captures, "Captures that are measured on")->required();
  add("--data", options->data, "Folder with captures/");
  add("--properties", options->properties, "Properties probed at most")->check(CLI::PositiveNumber);
  add("--examples", options->examples, "Of each property, to fit and to measure")
      ->check(CLI::Range(4, 2000));
  add("--bodies", options->bodies, "Drawn for the other measures")->check(CLI::PositiveNumber);
  add("--seed", options->seed, "Of the draws");
  Bind(command, action, options, EvaluateBodies);
}

}  // namespace shoal::encoder
