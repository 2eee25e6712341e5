// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/make_text_encoder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "platform/runtime/config.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/text/embedding/counting_encoder.h"
#include "tests/text/embedding/small_encoder.h"
#include "tests/text/embedding/small_sentence_model.h"
#include "tests/text/embedding/small_state.h"

namespace shoal::embedding {
namespace {

using doubles::TemporaryFolder;

std::unique_ptr<tokens::TextEncoder> Make(const EncoderSource& source,
                                          const EmbeddingCacheOptions& caches = {},
                                          runtime::Metrics* metrics = nullptr) {
  auto encoder = MakeTextEncoder(source, caches, metrics);
  INFO(encoder.status().ToString());
  REQUIRE(encoder.ok());
  return *std::move(encoder);
}

std::string ErrorOf(const EncoderSource& source, absl::StatusCode code,
                    const EmbeddingCacheOptions& caches = {}) {
  const absl::Status status = MakeTextEncoder(source, caches, nullptr).status();
  INFO(status.ToString());
  REQUIRE(status.code() == code);
  return runtime::Message(status);
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the default is lexical vectors") {
  const auto encoder = Make({});
  REQUIRE(encoder->version().starts_with("lexical-"));
  REQUIRE(encoder->dimension() == 512);
}

TEST_CASE("a preset's folder and a folder by name are the same language model") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.At("tiny"));
  const EncoderSource preset{.encoder = "gpt2:tiny", .encoder_models = folder.path()};
  const auto by_preset = Make(preset);
  const auto by_folder = Make({.encoder = "gpt2:" + folder.At("tiny")});
  REQUIRE(by_preset->version().starts_with("gpt2-"));
  REQUIRE(by_preset->version() == by_folder->version());
  REQUIRE(by_preset->dimension() == kSmallWidth);
}

TEST_CASE("both is lexical and language side by side, tiny unless another is named") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.At("tiny"));
  const auto language = Make({.encoder = "gpt2:tiny", .encoder_models = folder.path()});
  const auto both = Make({.encoder = "both", .encoder_models = folder.path()});
  REQUIRE(both->version() == Make({})->version() + "+" + language->version());
  REQUIRE(both->version() == Make({.encoder = "both:" + folder.At("tiny")})->version());
  REQUIRE(both->dimension() == 512 + kSmallWidth);
  const runtime::Tensor vectors = EncodeAll(*both, {"set the asset tag"});
  const auto row = RowOf(vectors, 0);
  REQUIRE(std::abs(Dot(row, row) - 1) < 2e-3);
  const std::vector<std::uint16_t> tail(row.begin() + 512, row.end());
  REQUIRE(std::abs(Dot(tail, tail) - 0.5) < 2e-3);
}

TEST_CASE("a sentence encoder takes requests in phrases, alone or beside the lexical vector") {
  const TemporaryFolder folder;
  WriteSmallSentenceModel(folder.path());
  const auto named = Make({.encoder = "sentence:" + folder.path()});
  const auto alone = Make({.encoder = "sentence", .encoder_sentences = folder.path()});
  const auto both = Make({.encoder = "both:sentence", .encoder_sentences = folder.path()});
  REQUIRE(named->version() == alone->version());
  REQUIRE(alone->version().ends_with("-phrases1"));
  REQUIRE(alone->dimension() == kSmallSentenceWidth);
  REQUIRE(both->version() == Make({})->version() + "+" + alone->version());
  REQUIRE(both->version() == Make({.encoder = "both:sentence:" + folder.path()})->version());
  const std::string request = R"({"method":"PATCH","uri":"","type":"","body":{"Boot":"set"}})";
  const runtime::Tensor vectors = EncodeAll(*alone, {request, "set Boot to set of "});
  REQUIRE(RowOf(vectors, 0) == RowOf(vectors, 1));
}

TEST_CASE("a state encoder takes segments, by a folder or as the one beside the presets") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.At("tiny"));
  WriteSmallState(folder.At("state"), folder.At("tiny"));
  const auto named = Make({.encoder = "state:" + folder.At("state")});
  const auto alone = Make({.encoder = "state", .encoder_models = folder.path()});
  const auto both = Make({.encoder = "both:state", .encoder_models = folder.path()});
  REQUIRE(named->version() == alone->version());
  REQUIRE(alone->version().ends_with("-chunked1"));
  REQUIRE(alone->dimension() == kSmallLatent);
  REQUIRE(both->version() == Make({})->version() + "+" + alone->version());
}

TEST_CASE("bodies of responses have the encoder that body_encoder names, and all else the other") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.At("tiny"));
  WriteSmallState(folder.At("state"), folder.At("tiny"));
  const std::string body = R"({"PowerState":"On"})";
  const std::string goal = "power the machine up";
  const auto lexical = Make({});
  const auto state = Make({.encoder = "state", .encoder_models = folder.path()});
  const auto divided = Make({.body_encoder = "state", .encoder_models = folder.path()});
  REQUIRE(divided->version() == lexical->version() + "|" + state->version());
  REQUIRE(divided->dimension() == 512);
  REQUIRE(divided->body_dimension() == kSmallLatent);
  const runtime::Tensor vectors = EncodeAll(*divided, {goal, body});
  REQUIRE(RowOf(vectors, 0) == RowOf(EncodeAll(*lexical, {goal}), 0));
  auto expected = RowOf(EncodeAll(*state, {body}), 0);
  expected.resize(512);
  REQUIRE(RowOf(vectors, 1) == expected);
  REQUIRE(Make({.body_encoder = "lexical"})->version() == lexical->version());
}

TEST_CASE("sizes of the policy that do not fit the encoder are refused by name") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.At("tiny"));
  const auto encoder = Make({.body_encoder = "gpt2:" + folder.At("tiny")});
  const auto check = [&](std::int64_t embedding_size, std::int64_t body_size) {
    return runtime::Message(CheckSizes(*encoder, "it", embedding_size, body_size));
  };
  REQUIRE(check(512, 0).empty());
  REQUIRE(check(512, kSmallWidth).empty());
  REQUIRE(check(16, 0) == "policy.embedding_size is 16, it makes 512 numbers");
  REQUIRE(check(512, 20) == "policy.body_size is 20, it makes 16 numbers of a response's body");
}

TEST_CASE("a state encoder that cannot be made names its folder, and a body encoder its knob") {
  const TemporaryFolder folder;
  REQUIRE(
      Contains(ErrorOf({.encoder = "state:" + folder.At("nothing")}, absl::StatusCode::kNotFound),
               folder.At("nothing") + " does not have config.json and model.safetensors: give"));
  REQUIRE(ErrorOf({.body_encoder = "words"}, absl::StatusCode::kInvalidArgument)
              .starts_with("body_encoder: encoder is 'words' and may be lexical"));
  WriteSmallModel(folder.At("tiny"));
  WriteSmallState(folder.At("state"), folder.At("tiny"));
  std::filesystem::remove(folder.At("tiny/config.json"));
  REQUIRE(Contains(ErrorOf({.encoder = "state:" + folder.At("state")}, absl::StatusCode::kNotFound),
                   folder.At("tiny") + " does not have config.json"));
  for (const char* base : {"lexical", "both:tiny", "state", "words"}) {
    REQUIRE(absl::IsInvalidArgument(MakeLanguageStates({}, base, -1).status()));
  }
}

TEST_CASE("only a GPT-2 tells goals and requests apart badly") {
  const auto has_gpt2 = [](const char* encoder) {
    return EncoderSource{.encoder = encoder}.has_gpt2();
  };
  REQUIRE_FALSE((has_gpt2("lexical") || has_gpt2("sentence") || has_gpt2("both:sentence:a")));
  REQUIRE_FALSE(EncoderSource{.body_encoder = "gpt2:tiny"}.has_gpt2());
  REQUIRE(EncoderSource{.body_encoder = "gpt2:tiny"}.has_language_model());
  REQUIRE((has_gpt2("both") && has_gpt2("gpt2:tiny") && has_gpt2("both:tiny")));
}

TEST_CASE("after a restart the language part comes out of the cache's file") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.At("tiny"));
  const EncoderSource source{.encoder = "both", .encoder_models = folder.path()};
  const EmbeddingCacheOptions caches{.encoder_cache = folder.At("vectors.sqlite")};
  std::string text;
  for (int i = 0; i < 300; ++i) text += "\"name\":" + std::to_string(i) + ",";
  const std::vector<std::string> texts = {text, "set the asset tag"};
  const runtime::Tensor before = EncodeAll(*Make(source, caches), texts);
  runtime::Metrics metrics;
  const runtime::Tensor after = EncodeAll(*Make(source, caches, &metrics), texts);
  REQUIRE(std::ranges::equal(before.bytes(), after.bytes()));
  REQUIRE(metrics.Counter("shoal_embedding_file_found_total", "Vectors found in the file").Value() >
          3);
  REQUIRE(
      metrics.Counter("shoal_embedding_file_missing_total", "Vectors that the file did not have")
          .Value() == 0);
}

TEST_CASE(
    "an encoder that cannot be made is one sentence that names the knob and what would work") {
  const TemporaryFolder folder;
  const std::string models = folder.At("models");
  for (const char* encoder : {"", "gpt3", "gpt2", "gpt2:", "both:", "Lexical",
                              "sentence:", "both:sentence:", "sentences"}) {
    CAPTURE(encoder);
    REQUIRE(
        ErrorOf({.encoder = encoder}, absl::StatusCode::kInvalidArgument) ==
        "encoder is '" + std::string(encoder) +
            "' and may be lexical, gpt2:<preset or folder>, sentence, sentence:<folder>, state, "
            "state:<folder>, both, or both: with what follows gpt2:, sentence or state");
  }
  REQUIRE(
      ErrorOf({.encoder = "gpt2:small", .encoder_models = models}, absl::StatusCode::kNotFound) ==
      "encoder is 'gpt2:small', but " + models +
          "/small does not have config.json and model.safetensors of preset small "
          "(encoder_models): give a folder that has them (gpt2:<folder>), or use lexical");
  WriteSmallModel(models + "/tiny");
  REQUIRE(Contains(
      ErrorOf({.encoder = "both:xl", .encoder_models = models}, absl::StatusCode::kNotFound),
      "use a preset that has (tiny), or lexical"));
  REQUIRE(Contains(ErrorOf({.encoder = "gpt2:" + folder.At("nothing"), .encoder_models = models},
                           absl::StatusCode::kNotFound),
                   folder.At("nothing") + " does not have config.json"));
  REQUIRE(Contains(ErrorOf({.encoder_table = folder.At("none.idf")}, absl::StatusCode::kNotFound),
                   "encoder_table: "));
  REQUIRE(Contains(
      ErrorOf({.encoder = "gpt2:tiny", .encoder_models = models, .encoder_device = "abacus"},
              absl::StatusCode::kInvalidArgument),
      "encoder is 'gpt2:tiny' on encoder_device 'abacus': device 'abacus'"));
  REQUIRE(Contains(ErrorOf({.encoder = "gpt2:tiny", .encoder_models = models},
                           absl::StatusCode::kFailedPrecondition, {.encoder_cache = folder.path()}),
                   "encoder_cache: " + folder.path()));
  REQUIRE(
      Contains(ErrorOf({.encoder = "sentence", .encoder_sentences = folder.At("nothing")},
                       absl::StatusCode::kNotFound),
               folder.At("nothing") + " does not have config.json and model.safetensors: give"));
  std::filesystem::remove(models + "/tiny/tokenizer.json");
  REQUIRE(Contains(
      ErrorOf({.encoder = "gpt2:tiny", .encoder_models = models}, absl::StatusCode::kNotFound),
      "tokenizer.json"));
}

TEST_CASE("the knobs are read from a file's section") {
  struct Options {
    void Visit(runtime::Visitor& visitor) {
      source.Visit(visitor);
      caches.Visit(visitor);
    }
    EncoderSource source;
    EmbeddingCacheOptions caches;
  } options;
  runtime::Config config;
  config.Add("inference", options);
  REQUIRE(config
              .Load("", {"inference.encoder=both:tiny", "inference.encoder_device=cuda:1",
                         "inference.encoder_cache=vectors.sqlite",
                         "inference.encoder_cache_bytes=1000000"})
              .ok());
  REQUIRE(options.source.encoder == "both:tiny");
  REQUIRE(options.source.encoder_device == "cuda:1");
  REQUIRE(options.source.encoder_table == "data/encoder/lexical.idf");
  REQUIRE(options.caches.encoder_cache == "vectors.sqlite");
  REQUIRE(options.caches.encoder_cache_bytes == 1000000);
  REQUIRE_FALSE(config.Load("", {"inference.encoder_cache_bytes=1000"}).ok());
}

}  // namespace
}  // namespace shoal::embedding
