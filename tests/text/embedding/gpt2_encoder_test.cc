// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/gpt2_encoder.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <set>

#include "tests/doubles/temporary_folder.h"
#include "tests/text/embedding/counting_encoder.h"
#include "tests/text/embedding/small_encoder.h"
#include "text/language/gpt2.h"

namespace shoal::embedding {
namespace {

using doubles::TemporaryFolder;

std::unique_ptr<Gpt2Encoder> Load(const std::string& folder,
                                  const Gpt2EncoderOptions& options = {}) {
  auto encoder = Gpt2Encoder::Create(folder, options);
  INFO(encoder.status().ToString());
  REQUIRE(encoder.ok());
  return *std::move(encoder);
}

// The last text is split into several sequences.
const std::vector<std::string>& Texts() {
  static const std::vector<std::string> kTexts = [] {
    std::vector<std::string> texts = {"set the asset tag", "x", "", "{\"AssetTag\":\"\u00fc\"}"};
    std::string all;
    for (int i = 0; i < 40; ++i) all += "property " + std::to_string(i * i) + ", ";
    texts.push_back(all);
    return texts;
  }();
  return kTexts;
}

// Encodes one sequence at a time and averages all hidden states.
std::vector<double> BruteForce(const language::Gpt2& model, std::string_view text) {
  const auto ids = tokens::IdsOf(*SmallTokenizer(), text);
  std::vector<double> mean(kSmallWidth);
  const auto positions = static_cast<std::size_t>(model.config().positions);
  for (std::size_t begin = 0; begin < ids.size(); begin += positions) {
    language::TokenBatch batch;
    batch.Append(std::span(ids).subspan(begin, std::min(positions, ids.size() - begin)));
    const runtime::Tensor states = model.HiddenStates(batch, -1).value();
    for (std::size_t i = 0; i < states.size(); ++i) {
      mean[i % kSmallWidth] += static_cast<double>(states.values<float>()[i]);
    }
  }
  double norm = 0;
  for (const double x : mean) norm += x * x;
  if (norm > 0) {
    for (double& x : mean) x /= std::sqrt(norm);
  }
  return mean;
}

double Furthest(const std::vector<std::uint16_t>& row, const std::vector<double>& expected) {
  double furthest = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    furthest =
        std::max(furthest, std::abs(static_cast<double>(runtime::FromHalf(row[i])) - expected[i]));
  }
  return furthest;
}

TEST_CASE("a text's vector is the mean of its hidden states, whatever the slices and the batch") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.path());
  const auto model = language::Gpt2::Create(SmallParameters(), nullptr, {}).value();
  for (const std::int64_t slice_tokens : {1, 30, 2048}) {
    const auto encoder = Load(folder.path(), {.slice_tokens = slice_tokens});
    REQUIRE(encoder->dimension() == kSmallWidth);
    const runtime::Tensor vectors = EncodeAll(*encoder, Texts());
    for (std::size_t i = 0; i < Texts().size(); ++i) {
      CAPTURE(slice_tokens, i);
      const auto expected = BruteForce(*model, Texts()[i]);
      REQUIRE(Furthest(RowOf(vectors, i), expected) < 1e-3);
      REQUIRE(Furthest(RowOf(EncodeAll(*encoder, {Texts()[i]}), 0), expected) < 1e-3);
    }
    REQUIRE(RowOf(vectors, 2) == std::vector<std::uint16_t>(kSmallWidth));
  }
}

TEST_CASE("more tokens than one call of the model takes are the same vectors") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.path());
  const auto encoder = Load(folder.path());
  std::vector<std::string> texts(300, Texts().back());
  texts.push_back(Texts().front());
  const auto model = language::Gpt2::Create(SmallParameters(), nullptr, {}).value();
  const runtime::Tensor vectors = EncodeAll(*encoder, texts);
  const auto expected = BruteForce(*model, Texts().back());
  REQUIRE(tokens::IdsOf(*SmallTokenizer(), Texts().back()).size() * texts.size() > 1 << 16);
  for (std::size_t i = 0; i < 300; ++i) REQUIRE(Furthest(RowOf(vectors, i), expected) < 1e-3);
  REQUIRE(Furthest(RowOf(vectors, 300), BruteForce(*model, Texts().front())) < 1e-3);
}

TEST_CASE("with slices of one sequence the batch does not change a bit") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.path());
  const auto encoder = Load(folder.path(), {.slice_tokens = 1});
  const runtime::Tensor together = EncodeAll(*encoder, Texts());
  for (std::size_t i = 0; i < Texts().size(); ++i) {
    REQUIRE(RowOf(EncodeAll(*encoder, {Texts()[i]}), 0) == RowOf(together, i));
  }
}

TEST_CASE("the version is of all that decides a vector, and of nothing else") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.At("a"));
  WriteSmallModel(folder.At("other-weights"), 2);
  WriteSmallModel(folder.At("other-config"));
  language::Gpt2Parameters parameters = SmallParameters();
  parameters.config.norm_epsilon = 1e-3;
  REQUIRE(language::WriteGpt2Folder(folder.At("other-config"), parameters.config, parameters.flat)
              .ok());
  WriteSmallModel(folder.At("other-tokenizer"));
  REQUIRE(tokens::SaveTokenizer(
              *tokens::TrainedOn({"asset tags"}, {.vocabulary_size = 259, .minimum_count = 1}),
              folder.At("other-tokenizer/tokenizer.json"))
              .ok());
  std::set<std::string> versions;
  for (const char* name : {"a", "other-weights", "other-config", "other-tokenizer"}) {
    versions.insert(Load(folder.At(name))->version());
  }
  versions.insert(Load(folder.At("a"), {.precision = runtime::DType::kBFloat16})->version());
  REQUIRE(versions.size() == 5);
  for (const std::string& version : versions) {
    REQUIRE(version.size() == std::string("gpt2-").size() + 16);
    REQUIRE(version.starts_with("gpt2-"));
  }
  std::filesystem::rename(folder.At("a"), folder.At("b"));
  REQUIRE(versions.contains(Load(folder.At("b"), {.slice_tokens = 7})->version()));
}

TEST_CASE("a folder that holds no encoder is refused by name") {
  const TemporaryFolder folder;
  const auto error = [&] { return Gpt2Encoder::Create(folder.path(), {}).status(); };
  REQUIRE(absl::IsNotFound(error()));
  WriteSmallModel(folder.path());
  REQUIRE(error().ok());
  const auto large = tokens::TrainedOn({"set the asset tag of a system and a manager of it"},
                                       {.vocabulary_size = 281, .minimum_count = 1});
  REQUIRE(large->size() == 281);
  REQUIRE(tokens::SaveTokenizer(*large, folder.At("tokenizer.json")).ok());
  REQUIRE(absl::IsInvalidArgument(error()));
  REQUIRE(runtime::Message(error()) ==
          folder.path() + ": the tokenizer has 281 ids, the model 280");
  std::filesystem::remove(folder.At("tokenizer.json"));
  REQUIRE(absl::IsNotFound(error()));
  REQUIRE(runtime::Message(error()).find("tokenizer.json") != std::string::npos);
}

}  // namespace
}  // namespace shoal::embedding
