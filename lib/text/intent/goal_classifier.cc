// SPDX-License-Identifier: Apache-2.0
#include "text/intent/goal_classifier.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "platform/runtime/random.h"
#include "platform/runtime/tensor.h"
#include "redfish/goals/goal_definition.h"
#include "redfish/goals/parameter_generator.h"
#include "text/intent/token_shape.h"

namespace shoal::intent {
namespace {

using runtime::Random;

constexpr std::uint64_t kSeed = 20;
// Sentences of each goal, and of none.
constexpr std::size_t kSentences = 250;
constexpr std::size_t kRefusedSentences = 1500;
constexpr int kEpochs = 12;
constexpr float kRate = 4.0F;
constexpr float kDecay = 1e-5F;
// People's sentences are less like the phrasings than the classifier has learned to expect.
constexpr double kTemperature = 1.5;

// Returns the sentence with words for values in place of them.
std::string WithoutValues(const Sentence& sentence) {
  std::string text;
  for (const Token& token : sentence.tokens()) {
    std::string word = token.meant.empty() ? token.text : token.meant;
    if (token.kind == TokenKind::kUrl) {
      word = token.text.ends_with(".iso") ? "isoaddress" : "webaddress";
    } else if (token.kind == TokenKind::kHost) {
      word = token.text.find(".invalid") == token.text.npos ? "hostname" : "old invalid";
    } else if (token.kind == TokenKind::kVersion) {
      word = "versionnumber";
    } else if (token.kind == TokenKind::kQuoted) {
      word = "somevalue";
    } else if (token.text.find('-') != token.text.npos && LooksLikeValue(token) &&
               token.text.find_first_of("0123456789") != token.text.npos) {
      word = "somevalue";
    }
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

std::string ValueFor(std::string_view name, Random& random) {
  const auto draw = [&](std::string_view generator) {
    return redfish::DrawParameter(generator, random);
  };
  if (name == "Image") return "http://" + draw("host") + "/install.iso";
  if (name == "ImageURI") return "http://images.example/bios-" + draw("version") + ".bin";
  if (name == "Destination") return "http://" + draw("host") + "/events";
  if (name == "NTPServers") return draw("host");
  if (name == "Version") return draw("version");
  if (name == "AssetTag") return draw("tag");
  if (name.ends_with("Password")) return draw("password");
  if (name == "PasswordName") return "SetupPassword";
  if (name == "Attribute" || name == "First") return "ProcVirtualization";
  if (name == "Second") return "LogicalProc";
  if (name == "From") return "Enabled";
  if (name == "To" || name == "FirstTo" || name == "SecondTo") {
    return random.Below(2) == 0 ? "Disabled" : "Enabled";
  }
  if (name == "BootOrder:first") return "Boot000" + std::to_string(random.Below(10));
  if (name == "system" || name == "manager") return "System";
  if (name == "chassis") return "Computer System Chassis";
  return draw("user");
}

// Draws a sentence of training on a capture that has all targets, or some of them.
std::string DrawSentence(const redfish::Goal& goal, Random& random) {
  const auto& patterns = goal.train_patterns();
  std::string text = patterns[random.Below(patterns.size())].Draw(random);
  std::string targets;
  for (const redfish::GoalTarget& target : goal.definition().targets) {
    const auto& phrases = target.phrasings.train;
    if (phrases.empty() || (!targets.empty() && random.Below(2) == 0)) continue;
    if (!targets.empty()) targets += " and ";
    targets += phrases[random.Below(phrases.size())].Draw(random);
  }
  const auto fill = [&](std::string_view name) -> std::optional<std::string> {
    if (name == "targets") return targets;
    return ValueFor(name, random);
  };
  text = redfish::FillNames(redfish::FillNames(text, fill), fill);
  return redfish::AddNoise(text, {.word_dropout = 0.1, .typos = 0.02}, random);
}

void Softmax(std::span<double> logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (double& logit : logits) sum += logit = std::exp(logit - most);
  for (double& logit : logits) logit /= sum;
}

std::vector<double> Logits(std::span<const float> weights, std::size_t classes,
                           std::span<const float> vector) {
  std::vector<double> logits(classes);
  const std::size_t width = vector.size() + 1;
  for (std::size_t c = 0; c < classes; ++c) {
    const float* const row = weights.data() + c * width;
    float sum = row[vector.size()];
    for (std::size_t d = 0; d < vector.size(); ++d) sum += row[d] * vector[d];
    logits[c] = sum;
  }
  return logits;
}

absl::StatusOr<std::vector<float>> Encode(const tokens::TextEncoder& encoder,
                                          std::span<const std::string> texts) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor encoded, encoder.Encode(views));
  std::vector<float> vectors(texts.size() * static_cast<std::size_t>(encoder.dimension()));
  runtime::ToFloats(encoded.dtype(), encoded.bytes(), vectors);
  return vectors;
}

}  // namespace

GoalClassifier::GoalClassifier(const tokens::TextEncoder& encoder, std::size_t classes)
    : encoder_(&encoder),
      classes_(classes),
      dimension_(static_cast<std::size_t>(encoder.dimension())),
      weights_(classes * (dimension_ + 1)) {}

absl::StatusOr<GoalClassifier> GoalClassifier::Train(
    const redfish::GoalSuite& suite, std::span<const redfish::PhrasePattern> refused,
    const tokens::TextEncoder& encoder) {
  GoalClassifier classifier(encoder, suite.size() + 1);
  Random random(kSeed);
  std::vector<std::string> texts;
  std::vector<std::size_t> labels;
  const auto add = [&](const std::string& text, std::size_t label) {
    texts.push_back(WithoutValues(Sentence(text)));
    labels.push_back(label);
  };
  for (std::size_t g = 0; g < suite.size(); ++g) {
    for (std::size_t i = 0; i < kSentences; ++i) add(DrawSentence(*suite[g], random), g);
  }
  for (std::size_t i = 0; i < kRefusedSentences && !refused.empty(); ++i) {
    const std::string text = refused[random.Below(refused.size())].Draw(random);
    add(redfish::AddNoise(text, {.word_dropout = 0.1, .typos = 0.02}, random), suite.size());
  }
  SHOAL_ASSIGN_OR_RETURN(const std::vector<float> vectors, Encode(encoder, texts));
  classifier.Fit(vectors, labels);
  return classifier;
}

void GoalClassifier::Fit(std::span<const float> vectors, std::span<const std::size_t> labels) {
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(kSeed, 1);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    runtime::Shuffle(std::span<std::size_t>(order), random);
    const float rate = kRate / static_cast<float>(1 + epoch);
    for (const std::size_t i : order) {
      const std::span<const float> vector = vectors.subspan(i * dimension_, dimension_);
      std::vector<double> wrong = Logits(weights_, classes_, vector);
      Softmax(wrong);
      wrong[labels[i]] -= 1.0;
      for (std::size_t c = 0; c < classes_; ++c) {
        const auto step = rate * static_cast<float>(wrong[c]);
        if (std::abs(step) < 1e-5F) continue;
        float* const row = weights_.data() + c * (dimension_ + 1);
        for (std::size_t d = 0; d < dimension_; ++d) {
          row[d] -= step * vector[d] + rate * kDecay * row[d];
        }
        row[dimension_] -= 0.1F * step;
      }
    }
  }
}

absl::StatusOr<std::vector<double>> GoalClassifier::Probabilities(const Sentence& sentence) const {
  const std::vector<std::string> texts = {WithoutValues(sentence)};
  SHOAL_ASSIGN_OR_RETURN(const std::vector<float> vector, Encode(*encoder_, texts));
  std::vector<double> probabilities = Logits(weights_, classes_, vector);
  for (double& logit : probabilities) logit /= kTemperature;
  Softmax(probabilities);
  return probabilities;
}

}  // namespace shoal::intent
