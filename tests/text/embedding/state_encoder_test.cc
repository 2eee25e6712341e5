// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/state_encoder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/doubles/temporary_folder.h"
#include "tests/text/embedding/counting_encoder.h"
#include "tests/text/embedding/small_sentence_model.h"
#include "tests/text/embedding/small_state.h"
#include "text/embedding/gpt2_encoder.h"
#include "text/language/gpt2.h"
#include "text/language/state_pooler.h"

namespace shoal::embedding {
namespace {

using doubles::TemporaryFolder;

const std::vector<std::string>& StateTexts() {
  static const std::vector<std::string> kStateTexts = [] {
    std::vector<std::string> texts = {R"({"AssetTag":"a"})", "", "x", R"({"AssetTag":"b"})"};
    std::string all;
    for (int i = 0; i < 40; ++i) all += "property " + std::to_string(i * i) + ", ";
    texts.push_back(all);
    return texts;
  }();
  return kStateTexts;
}

std::vector<std::string_view> StateViewsOf(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

std::unique_ptr<StateEncoder> MakeStateEncoder(const std::string& model,
                                               const language::StateParameters& parameters,
                                               std::int64_t slice_tokens = 4096) {
  auto states = LanguageStates::OfGpt2(model, {.slice_tokens = slice_tokens}).value();
  auto encoder = StateEncoder::Create(std::move(states), parameters, slice_tokens);
  INFO(encoder.status().ToString());
  REQUIRE(encoder.ok());
  return *std::move(encoder);
}

TEST_CASE("the hidden states of a text are those of the model, sequence after sequence") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.path());
  const auto states = LanguageStates::OfGpt2(folder.path(), {}).value();
  const language::HiddenTexts hidden = states->Of(StateViewsOf(StateTexts())).value();
  REQUIRE(hidden.texts() == static_cast<std::int64_t>(StateTexts().size()));
  REQUIRE(hidden.length(1) == 0);
  const auto model = language::Gpt2::Create(SmallParameters(), nullptr, {}).value();
  for (std::size_t text = 0; text < StateTexts().size(); ++text) {
    std::vector<float> expected;
    const auto ids = tokens::IdsOf(*SmallTokenizer(), StateTexts()[text]);
    for (std::size_t begin = 0; begin < ids.size(); begin += 24) {
      language::TokenBatch batch;
      batch.Append(std::span(ids).subspan(begin, std::min<std::size_t>(24, ids.size() - begin)));
      const runtime::Tensor own = model->HiddenStates(batch, -1).value();
      expected.insert(expected.end(), own.values<float>().begin(), own.values<float>().end());
    }
    const auto begin = static_cast<std::size_t>(hidden.starts[text] * kSmallWidth);
    const auto rows = hidden.states.values<float>().subspan(begin, expected.size());
    REQUIRE(hidden.length(static_cast<std::int64_t>(text)) ==
            static_cast<std::int64_t>(ids.size()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      REQUIRE(rows[i] == Approx(expected[i]).margin(1e-4));
    }
  }
}

TEST_CASE("a layer of hidden states is the model's own, and refused where there is none") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.path());
  const auto model = language::Gpt2::Create(SmallParameters(), nullptr, {}).value();
  const std::string_view text = "x";
  language::TokenBatch batch;
  batch.Append(tokens::IdsOf(*SmallTokenizer(), text));
  std::set<std::string> versions;
  for (const std::int64_t layer : {0, 1, 2}) {
    const auto states = LanguageStates::OfGpt2(folder.path(), {.layer = layer}).value();
    REQUIRE(states->layer() == layer);
    versions.insert(states->version());
    const runtime::Tensor own = states->Of({&text, 1})->states;
    const runtime::Tensor expected = model->HiddenStates(batch, layer).value();
    REQUIRE(std::ranges::equal(own.bytes(), expected.bytes()));
  }
  REQUIRE(versions.size() == 3);
  versions.insert(LanguageStates::OfGpt2(folder.path(), {}).value()->version());
  REQUIRE(versions.size() == 3);
  REQUIRE(runtime::Message(LanguageStates::OfGpt2(folder.path(), {.layer = 3}).status()) ==
          folder.path() + ": there is no layer 3 of hidden states, only 0 to 2");
  WriteSmallSentenceModel(folder.At("bert"));
  REQUIRE(
      absl::IsInvalidArgument(LanguageStates::OfBert(folder.At("bert"), {.layer = 0}).status()));
}

TEST_CASE(
    "a BERT's hidden states are between its marks of begin and end, a text's empty ones none") {
  const TemporaryFolder folder;
  WriteSmallSentenceModel(folder.path());
  const auto states = LanguageStates::OfBert(folder.path(), {}).value();
  REQUIRE(states->version().starts_with("bert-"));
  REQUIRE(states->width() == kSmallSentenceWidth);
  const std::vector<std::string_view> texts = {"set", "", "set set"};
  const language::HiddenTexts hidden = states->Of(texts).value();
  REQUIRE(hidden.length(0) >= 3);
  REQUIRE(hidden.length(1) == 0);
  REQUIRE(hidden.length(2) > hidden.length(0));
  REQUIRE(hidden.Validate(kSmallSentenceWidth).ok());
}

TEST_CASE("a vector is the latent of the text's hidden states, whatever the batch and the slices") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.path());
  const language::StateParameters parameters = SmallState(folder.path());
  const auto states = LanguageStates::OfGpt2(folder.path(), {}).value();
  const auto pooler = language::StatePooler::Create(parameters, {}).value();
  for (const std::int64_t slice_tokens : {1, 30, 4096}) {
    const auto encoder = MakeStateEncoder(folder.path(), parameters, slice_tokens);
    REQUIRE(encoder->dimension() == kSmallLatent);
    const runtime::Tensor vectors = EncodeAll(*encoder, StateTexts());
    for (std::size_t i = 0; i < StateTexts().size(); ++i) {
      CAPTURE(slice_tokens, i);
      const std::string_view text = StateTexts()[i];
      const runtime::Tensor latent = pooler->Latents(states->Of({&text, 1}).value()).value();
      const auto row = RowOf(vectors, i);
      for (std::size_t k = 0; k < row.size(); ++k) {
        REQUIRE(runtime::FromHalf(row[k]) == Approx(latent.values<float>()[k]).margin(2e-3));
      }
      REQUIRE(Dot(row, row) == Approx(text.empty() ? 0 : 1).margin(3e-3));
    }
    REQUIRE(RowOf(vectors, 0) != RowOf(vectors, 3));
  }
}

TEST_CASE("with slices of one sequence the rest of the batch does not change a bit of a latent") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.path());
  const auto encoder = MakeStateEncoder(folder.path(), SmallState(folder.path()), 1);
  const runtime::Tensor together = EncodeAll(*encoder, StateTexts());
  for (std::size_t i = 0; i < StateTexts().size(); ++i) {
    REQUIRE(RowOf(EncodeAll(*encoder, {StateTexts()[i]}), 0) == RowOf(together, i));
  }
}

TEST_CASE("the version of a state encoder is of its parameters, its config and its base") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.At("a"));
  WriteSmallModel(folder.At("b"), 2);
  std::set<std::string> versions;
  versions.insert(MakeStateEncoder(folder.At("a"), SmallState(folder.At("a")))->version());
  versions.insert(MakeStateEncoder(folder.At("a"), SmallState(folder.At("a"), 2))->version());
  versions.insert(MakeStateEncoder(folder.At("b"), SmallState(folder.At("b")))->version());
  REQUIRE(versions.size() == 3);
  for (const std::string& version : versions) {
    REQUIRE(version.starts_with("state-"));
    REQUIRE(version.size() == std::string("state-").size() + 16);
  }
  REQUIRE(versions.contains(
      MakeStateEncoder(folder.At("a"), SmallState(folder.At("a")), 7)->version()));
}

TEST_CASE("a state encoder on another base than its own is refused, naming both") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.At("a"));
  WriteSmallModel(folder.At("b"), 2);
  const language::StateParameters parameters = SmallState(folder.At("a"));
  auto other = LanguageStates::OfGpt2(folder.At("b"), {}).value();
  const std::string now = other->version();
  const absl::Status status = StateEncoder::Create(std::move(other), parameters, 1).status();
  REQUIRE(absl::IsFailedPrecondition(status));
  REQUIRE(runtime::Message(status) == "the state encoder was trained on gpt2:" + folder.At("a") +
                                          " of " + parameters.config.base_version +
                                          ", and that is " + now + " now");
}

}  // namespace
}  // namespace shoal::embedding
