// SPDX-License-Identifier: Apache-2.0
// Compares with transformers: golden/make_bert_golden.py wrote the model and the values.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>

#include "rl/model/safetensors_file.h"
#include "tests/doubles/sentence_model.h"
#include "text/language/bert.h"
#include "text/wordpiece/word_piece_files.h"

namespace shoal::language {
namespace {

constexpr char kBertFolder[] = "tests/text/language/golden/bert";
constexpr char kBertValues[] = "tests/text/language/golden/bert.safetensors";
constexpr char kSentences[] = "tests/text/language/golden/sentences.safetensors";
constexpr std::size_t kMaximumIds = 256;

std::vector<float> FloatsIn(const model::SafetensorsFile& file, const std::string& name) {
  return file.view().Floats(name, file.view().Find(name)->shape).value();
}

std::vector<std::int64_t> IntegersIn(const model::SafetensorsFile& file, const std::string& name) {
  const auto bytes = file.view().Find(name)->bytes;
  std::vector<std::int64_t> values(bytes.size() / sizeof(std::int64_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TokenBatch GoldenBatch(const model::SafetensorsFile& file) {
  const auto ids = IntegersIn(file, "ids");
  TokenBatch batch;
  batch.ids.assign(ids.begin(), ids.end());
  batch.starts = IntegersIn(file, "starts");
  return batch;
}

double Greatest(std::span<const float> ours, std::span<const float> theirs) {
  REQUIRE(ours.size() == theirs.size());
  double greatest = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    greatest = std::max(greatest, std::abs(static_cast<double>(ours[i] - theirs[i])));
  }
  return greatest;
}

TEST_CASE("hidden states of a BERT that transformers wrote are transformers', in any slices") {
  const auto file = model::SafetensorsFile::Open(kBertValues).value();
  const TokenBatch batch = GoldenBatch(file);
  const auto expected = FloatsIn(file, "hidden");
  for (const std::int64_t slice_tokens : {1, 20, 1024}) {
    CAPTURE(slice_tokens);
    const auto bert = Bert::Load(kBertFolder, {.slice_tokens = slice_tokens}).value();
    REQUIRE(Greatest(bert->HiddenStates(batch).value().values<float>(), expected) < 1e-5);
  }
}

TEST_CASE("a sequence's mean is that of its hidden states, wherever it stands") {
  const auto file = model::SafetensorsFile::Open(kBertValues).value();
  const TokenBatch batch = GoldenBatch(file);
  const auto hidden = FloatsIn(file, "hidden");
  for (const std::int64_t slice_tokens : {1, 20, 1024}) {
    const auto bert = Bert::Load(kBertFolder, {.slice_tokens = slice_tokens}).value();
    const auto width = static_cast<std::size_t>(bert->config().width);
    std::vector<float> expected(static_cast<std::size_t>(batch.sequences()) * width);
    for (std::int64_t s = 0; s < batch.sequences(); ++s) {
      for (std::int64_t t = batch.starts[static_cast<std::size_t>(s)];
           t < batch.starts[static_cast<std::size_t>(s) + 1]; ++t) {
        for (std::size_t i = 0; i < width; ++i) {
          expected[static_cast<std::size_t>(s) * width + i] +=
              hidden[static_cast<std::size_t>(t) * width + i] / static_cast<float>(batch.length(s));
        }
      }
    }
    REQUIRE(Greatest(bert->Means(batch).value().values<float>(), expected) < 1e-5);
  }
}

TEST_CASE("a batch that the model cannot take is refused, and no batch is no rows") {
  const auto bert = Bert::Load(kBertFolder, {}).value();
  TokenBatch batch;
  REQUIRE(bert->Means(batch).value().size() == 0);
  REQUIRE(bert->HiddenStates(batch).value().size() == 0);
  batch.Append(std::vector<std::int32_t>{1, 200});
  REQUIRE(absl::IsInvalidArgument(bert->Means(batch).status()));
  batch = TokenBatch();
  batch.Append(std::vector<std::int32_t>(49, 1));
  REQUIRE(absl::IsInvalidArgument(bert->HiddenStates(batch).status()));
}

TEST_CASE("vectors of all-MiniLM-L6-v2 are those of transformers to 1e-5") {
  const auto folder = doubles::SentenceModel();
  if (!folder.has_value()) {
    WARN("all-MiniLM-L6-v2 is not here; deploy/install.sh install_minilm fetches it");
    return;
  }
  const auto tokenizer = tokens::LoadWordPieceFolder(*folder).value();
  const auto bert = Bert::Load(*folder, {}).value();
  const auto file = model::SafetensorsFile::Open(kSentences).value();
  const auto bytes = file.view().Find("texts")->bytes;
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TokenBatch batch;
  while (!rest.empty()) {
    std::uint32_t size = 0;
    std::memcpy(&size, rest.data(), sizeof(size));
    batch.Append(tokenizer->Encode(rest.substr(sizeof(size), size), kMaximumIds));
    rest.remove_prefix(sizeof(size) + size);
  }
  const runtime::Tensor means = bert->Means(batch).value();
  std::vector<float> units(means.values<float>().begin(), means.values<float>().end());
  const auto width = static_cast<std::size_t>(bert->config().width);
  for (std::size_t row = 0; row < units.size(); row += width) {
    double norm = 0;
    for (std::size_t i = 0; i < width; ++i) norm += std::pow(units[row + i], 2);
    for (std::size_t i = 0; i < width; ++i) units[row + i] /= static_cast<float>(std::sqrt(norm));
  }
  const double greatest = Greatest(units, FloatsIn(file, "vectors"));
  INFO("greatest difference " << greatest);
  REQUIRE(greatest < 1e-5);
}

}  // namespace
}  // namespace shoal::language
