// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/sentence_encoder.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "tests/doubles/temporary_folder.h"
#include "tests/text/embedding/counting_encoder.h"
#include "tests/text/embedding/small_sentence_model.h"
#include "text/embedding/model_version.h"
#include "text/language/bert.h"
#include "text/language/bert_folder.h"

namespace shoal::embedding {
namespace {

using doubles::TemporaryFolder;

std::unique_ptr<SentenceEncoder> LoadSentences(const std::string& folder,
                                               const SentenceEncoderOptions& options = {}) {
  auto encoder = SentenceEncoder::Create(folder, options);
  INFO(encoder.status().ToString());
  REQUIRE(encoder.ok());
  return *std::move(encoder);
}

// The third text has more tokens than the model has positions.
const std::vector<std::string>& SentenceTexts() {
  static const std::vector<std::string> kTexts = [] {
    std::string all;
    for (int i = 0; i < 80; ++i) all += "booting boots - ";
    return std::vector<std::string>{"set boot", "underset", all, "", "boot set", "  "};
  }();
  return kTexts;
}

TEST_CASE("a sentence's vector is the mean of its hidden states at length 1, in any batch") {
  const TemporaryFolder folder;
  WriteSmallSentenceModel(folder.path());
  const auto bert = language::Bert::Load(folder.path(), {}).value();
  const auto tokenizer = tokens::SmallWordPiece();
  for (const std::int64_t slice_tokens : {1, 60, 1024}) {
    const auto encoder = LoadSentences(folder.path(), {.slice_tokens = slice_tokens});
    REQUIRE(encoder->dimension() == kSmallSentenceWidth);
    const runtime::Tensor vectors = EncodeAll(*encoder, SentenceTexts());
    for (std::size_t i = 0; i < SentenceTexts().size(); ++i) {
      CAPTURE(slice_tokens, i);
      const auto row = RowOf(vectors, i);
      language::TokenBatch batch;
      batch.Append(tokenizer->Encode(SentenceTexts()[i], 48));
      if (batch.tokens() == 2) {
        REQUIRE(row == std::vector<std::uint16_t>(kSmallSentenceWidth));
        continue;
      }
      const runtime::Tensor mean = bert->Means(batch).value();
      double norm = 0;
      for (const float x : mean.values<float>()) norm += std::pow(x, 2);
      for (std::size_t j = 0; j < row.size(); ++j) {
        const double expected = static_cast<double>(mean.values<float>()[j]) / std::sqrt(norm);
        REQUIRE(std::abs(static_cast<double>(runtime::FromHalf(row[j])) - expected) < 1e-3);
      }
    }
  }
}

TEST_CASE("with slices of one sentence the batch does not change a bit") {
  const TemporaryFolder folder;
  WriteSmallSentenceModel(folder.path());
  const auto encoder = LoadSentences(folder.path(), {.slice_tokens = 1});
  const runtime::Tensor together = EncodeAll(*encoder, SentenceTexts());
  for (std::size_t i = 0; i < SentenceTexts().size(); ++i) {
    REQUIRE(RowOf(EncodeAll(*encoder, {SentenceTexts()[i]}), 0) == RowOf(together, i));
  }
}

TEST_CASE("the version of a sentence encoder is of its files, not of their place") {
  const TemporaryFolder folder;
  WriteSmallSentenceModel(folder.At("a"));
  const std::string version = LoadSentences(folder.At("a"))->version();
  REQUIRE(version.starts_with("bert-"));
  REQUIRE(version.size() == std::string("bert-").size() + 16);
  std::filesystem::rename(folder.At("a"), folder.At("b"));
  REQUIRE(LoadSentences(folder.At("b"), {.slice_tokens = 7})->version() == version);
  nlohmann::json other = tokens::SmallWordPieceJson();
  other["model"]["max_input_chars_per_word"] = 50;
  REQUIRE(runtime::WriteFileAtomically(folder.At("b/tokenizer.json"), other.dump()).ok());
  REQUIRE(LoadSentences(folder.At("b"))->version() != version);
}

TEST_CASE("in float32 the version says nothing of the precision, as when there was no other") {
  const TemporaryFolder folder;
  WriteSmallSentenceModel(folder.path());
  const auto parameters = language::ReadBertFolder(folder.path()).value();
  const std::string stated =
      "1 " + tokens::SmallWordPiece()->fingerprint() + " " + parameters.config.ToJson();
  REQUIRE(LoadSentences(folder.path())->version() == ModelVersion("bert", stated, parameters.flat));
  REQUIRE(LoadSentences(folder.path(), {.precision = runtime::DType::kBFloat16})->version() ==
          ModelVersion("bert", "bfloat16 " + stated, parameters.flat));
}

TEST_CASE("a folder that holds no sentence encoder is refused by name") {
  const TemporaryFolder folder;
  REQUIRE(absl::IsNotFound(SentenceEncoder::Create(folder.path(), {}).status()));
  WriteSmallSentenceModel(folder.path());
  REQUIRE(absl::IsInvalidArgument(
      SentenceEncoder::Create(folder.path(), {.precision = runtime::DType::kInt8}).status()));
  nlohmann::json large = tokens::SmallWordPieceJson();
  for (int id = 19; id <= 200; ++id) large["model"]["vocab"]["w" + std::to_string(id)] = id;
  REQUIRE(runtime::WriteFileAtomically(folder.At("tokenizer.json"), large.dump()).ok());
  const absl::Status status = SentenceEncoder::Create(folder.path(), {}).status();
  REQUIRE(absl::IsInvalidArgument(status));
  REQUIRE(runtime::Message(status) == folder.path() + ": the tokenizer has 201 ids, the model 200");
}

}  // namespace
}  // namespace shoal::embedding
