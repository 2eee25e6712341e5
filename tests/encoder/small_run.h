// SPDX-License-Identifier: Apache-2.0
// Runs of `encoder train` that are small enough to take a moment.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "encoder/pretraining.h"
#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"
#include "text/language/gpt2_folder.h"

namespace shoal::encoder {

inline constexpr std::int32_t kVocabulary = 20;

inline collectives::SingleRank& Alone() {
  static collectives::SingleRank alone;
  return alone;
}

// Texts that count up from some number, modulo the vocabulary. They are easy to learn.
struct Corpus {
  Corpus() {
    for (std::int32_t i = 0; i < 24; ++i) {
      std::vector<std::int32_t> text;
      for (std::int32_t k = 0; k < 6 + i % 5; ++k) text.push_back((i * 7 + k) % kVocabulary);
      texts.push_back(std::move(text));
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      (i < 20 ? material.training : material.held_out).push_back({texts[i], spans});
    }
    material.vocabulary_size = kVocabulary;
    material.longest = 10;
    material.fingerprint = "one";
  }
  std::vector<std::vector<std::int32_t>> texts;
  std::vector<dataset::Span> spans = {{dataset::SpanKind::kActions, 1, 3},
                                      {dataset::SpanKind::kResponse, 3, 6}};
  TrainingMaterial material;
};

// A model that is small enough for a run to take a moment.
inline std::string SmallModel(const doubles::TemporaryFolder& folder) {
  const language::Gpt2Config config{.vocabulary_size = kVocabulary,
                                    .positions = 16,
                                    .width = 16,
                                    .layers = 1,
                                    .heads = 2,
                                    .begin_token = -1,
                                    .end_token = -1};
  const auto start = language::InitialGpt2(config, 1).value();
  const std::string path = folder.path() + "/start";
  REQUIRE(language::WriteGpt2Folder(path, start.config, start.flat).ok());
  return path;
}

inline PretrainingOptions Options(const doubles::TemporaryFolder& folder, const std::string& name) {
  PretrainingOptions options;
  options.output = folder.path() + "/" + name;
  options.model = SmallModel(folder);
  options.steps = 12;
  options.batch_tokens = 40;
  options.learning_rate = 0.02;
  options.evaluate_every = 4;
  options.checkpoint_every = 5;
  options.keep_checkpoints = 100;
  return options;
}

inline std::string Bytes(const std::string& path) { return runtime::ReadFile(path).value(); }

inline std::vector<nlohmann::json> Rows(const std::string& run) {
  std::vector<nlohmann::json> rows;
  std::istringstream lines(Bytes(run + "/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json row = nlohmann::json::parse(line);
    row.erase("tokens_per_second");
    rows.push_back(std::move(row));
  }
  return rows;
}

inline bool Never() { return false; }

// Returns true from its call number `steps` + 1 on.
inline std::function<bool()> After(int steps) {
  return [steps]() mutable { return steps-- <= 0; };
}

inline absl::Status Run(const PretrainingOptions& options, std::string* summary = nullptr,
                        const std::function<bool()>& stop = Never) {
  static const Corpus corpus;
  std::ostringstream out;
  const absl::Status status = Pretrain(options, corpus.material, Alone(), stop, out);
  if (summary != nullptr) *summary = out.str();
  return status;
}

}  // namespace shoal::encoder
