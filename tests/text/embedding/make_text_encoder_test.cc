// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/make_text_encoder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/config.h"
#include "rl/model/compute_device.h"
#include "tests/doubles/gpu_left_out.h"
#include "tests/doubles/sentence_model.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/text/embedding/counting_encoder.h"
#include "tests/text/embedding/small_adapter.h"
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

// Writes an adapter for the lexical encoder with the table that ships.
void WriteLexicalAdapter(const std::string& folder, std::uint64_t seed) {
  AdapterParameters adapter = SmallAdapter(*Make({}), 8, seed);
  REQUIRE(WriteAdapter(folder, adapter).ok());
  std::filesystem::copy_file("data/encoder/lexical.idf", folder + "/" + kAdapterTable);
}

TEST_CASE("a tuned encoder is its adapter beside the encoder that the adapter names") {
  const TemporaryFolder folder;
  WriteLexicalAdapter(folder.At("tuned"), 1);
  WriteLexicalAdapter(folder.At("other"), 2);
  // The table is the adapter's own, whatever the knob says.
  const auto shipped = Make({.encoder = "tuned",
                             .encoder_table = folder.At("none.idf"),
                             .encoder_models = folder.path()});
  const auto named = Make({.encoder = "tuned:" + folder.At("tuned")});
  const auto other = Make({.encoder = "tuned:" + folder.At("other")});
  REQUIRE(shipped->version() == named->version());
  REQUIRE(named->version() != other->version());
  REQUIRE(named->version().starts_with(Make({})->version() + "+tuned-"));
  REQUIRE(named->dimension() == 8 + 512);
}

TEST_CASE("the adapter that ships is small, belongs to its table and knows the shipped captures") {
  const std::string folder = EncoderSource{.encoder = "tuned"}.adapter_folder();
  REQUIRE(folder == "data/encoder/tuned");
  const auto adapter = ReadAdapter(folder);
  INFO(adapter.status().ToString());
  REQUIRE(adapter.ok());
  REQUIRE(adapter->base == "both:sentence");
  const auto lexical = Make({.encoder_table = folder + "/" + kAdapterTable});
  REQUIRE(adapter->base_version.starts_with(lexical->version() + "+bert-"));
  REQUIRE(std::filesystem::file_size(folder + "/" + kAdapterFile) < (2 << 20));
  for (const std::string& capture : adapter->captures) {
    CAPTURE(capture);
    REQUIRE(std::filesystem::exists("data/captures/" + capture + ".tar.xz"));
  }
  const auto model = doubles::SentenceModel();
  if (!model) {
    WARN("without all-MiniLM-L6-v2 the vectors of the shipped adapter are not made");
    return;
  }
  const auto tuned = Make({.encoder = "tuned", .encoder_sentences = *model});
  const std::string on =
      R"({"action":"ComputerSystem.Reset","body":{"ResetType":"On"},"method":"POST","name":"System","type":"#ComputerSystem.v1_16_0.ComputerSystem","uri":"/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"})";
  const std::string tag =
      R"({"action":"","body":{"AssetTag":"<goal.AssetTag>"},"method":"PATCH","name":"System","type":"#ComputerSystem.v1_16_0.ComputerSystem","uri":"/redfish/v1/Systems/1"})";
  const runtime::Tensor rows = EncodeAll(*tuned, {"fire up that box", "label it 4711", on, tag});
  REQUIRE(Dot(RowOf(rows, 0), RowOf(rows, 2)) > Dot(RowOf(rows, 0), RowOf(rows, 3)) + 0.2);
  REQUIRE(Dot(RowOf(rows, 1), RowOf(rows, 3)) > Dot(RowOf(rows, 1), RowOf(rows, 2)) + 0.2);
}

TEST_CASE("an adapter that is missing, damaged or of other vectors ends in one sentence") {
  const TemporaryFolder folder;
  const std::string name = "tuned:" + folder.At("a");
  REQUIRE(Contains(ErrorOf({.encoder = name}, absl::StatusCode::kNotFound),
                   "encoder is '" + name + "': " + folder.At("a") + " does not have adapter."));
  REQUIRE(runtime::WriteFileAtomically(folder.At("a/") + kAdapterFile, "none").ok());
  REQUIRE_FALSE(MakeTextEncoder({.encoder = name}, {}, nullptr).ok());
  WriteLexicalAdapter(folder.At("b"), 1);
  std::filesystem::remove(folder.At("b/") + kAdapterTable);
  REQUIRE(Contains(ErrorOf({.encoder = "tuned:" + folder.At("b")}, absl::StatusCode::kNotFound),
                   kAdapterTable));
  AdapterParameters adapter = SmallAdapter(*Make({}));
  adapter.base_version = "lexical-0";
  WriteLexicalAdapter(folder.At("c"), 1);
  REQUIRE(WriteAdapter(folder.At("c"), adapter).ok());
  REQUIRE(Contains(
      ErrorOf({.encoder = "tuned:" + folder.At("c")}, absl::StatusCode::kFailedPrecondition),
      "trained on vectors of lexical-0"));
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
  REQUIRE(divided->version() == lexical->version() + "|" + state->version() + "|2");
  REQUIRE(divided->dimension() == 512);
  REQUIRE(divided->body_dimension() == kSmallLatent);
  const runtime::Tensor vectors = EncodeAll(*divided, {goal, body});
  REQUIRE(RowOf(vectors, 0) == RowOf(EncodeAll(*lexical, {goal}), 0));
  auto expected = RowOf(EncodeAll(*state, {body}), 0);
  expected.resize(512);
  REQUIRE(RowOf(vectors, 1) == expected);
  REQUIRE(Make({.body_encoder = "lexical"})->version() == lexical->version());
}

TEST_CASE("in bfloat16 vectors are near those of float32 and have another version") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.At("gpt2"));
  WriteSmallSentenceModel(folder.At("bert"));
  const std::vector<std::string> texts = {"set the asset tag", "boot set", "underset"};
  for (const std::string& encoder : {"gpt2:" + folder.At("gpt2"), "sentence:" + folder.At("bert"),
                                     "both:sentence:" + folder.At("bert")}) {
    CAPTURE(encoder);
    const auto usual = Make({.encoder = encoder});
    const auto rounded = Make({.encoder = encoder, .encoder_precision = "bfloat16"});
    REQUIRE(usual->version() ==
            Make({.encoder = encoder, .encoder_precision = "float32"})->version());
    REQUIRE(usual->version() != rounded->version());
    REQUIRE(usual->dimension() == rounded->dimension());
    const runtime::Tensor expected = EncodeAll(*usual, texts);
    const runtime::Tensor vectors = EncodeAll(*rounded, texts);
    REQUIRE_FALSE(std::ranges::equal(vectors.bytes(), expected.bytes()));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CAPTURE(i);
      const auto a = RowOf(vectors, i);
      const auto b = RowOf(expected, i);
      REQUIRE(Dot(a, b) / std::sqrt(Dot(a, a) * Dot(b, b)) > 0.999);
    }
  }
}

TEST_CASE("what was trained on float32 does not go with bfloat16") {
  const TemporaryFolder folder;
  WriteSmallModel(folder.At("tiny"));
  WriteSmallState(folder.At("state"), folder.At("tiny"));
  WriteSmallSentenceModel(folder.At("bert"));
  EncoderSource source{.encoder = "sentence", .encoder_sentences = folder.At("bert")};
  AdapterParameters adapter = SmallAdapter(*Make(source));
  adapter.base = source.encoder;
  REQUIRE(WriteAdapter(folder.At("tuned"), adapter).ok());
  for (const std::string& encoder :
       {"state:" + folder.At("state"), "tuned:" + folder.At("tuned")}) {
    CAPTURE(encoder);
    source.encoder = encoder;
    source.encoder_precision = "float32";
    Make(source);
    source.encoder_precision = "bfloat16";
    REQUIRE(Contains(ErrorOf(source, absl::StatusCode::kFailedPrecondition), "was trained on"));
  }
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
  REQUIRE_FALSE((has_gpt2("tuned") || has_gpt2("tuned:a")));
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
                              "sentence:", "both:sentence:", "sentences", "tuned:"}) {
    CAPTURE(encoder);
    REQUIRE(
        ErrorOf({.encoder = encoder}, absl::StatusCode::kInvalidArgument) ==
        "encoder is '" + std::string(encoder) +
            "' and may be lexical, gpt2:<preset or folder>, sentence, sentence:<folder>, state, "
            "state:<folder>, both, both: with what follows gpt2:, sentence or state, tuned or "
            "tuned:<folder>");
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
  REQUIRE(Contains(
      ErrorOf({.encoder = "gpt2:tiny", .encoder_models = models, .encoder_precision = "half"},
              absl::StatusCode::kInvalidArgument),
      "encoder_precision: 'half' is none of float32, bfloat16"));
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

TEST_CASE("each process of a machine has its share of the GPUs, and lexical vectors need none") {
  for (const std::int64_t number : {0, 1, 2}) {
    EncoderSource source{.encoder = "gpt2:tiny", .encoder_device = "auto"};
    REQUIRE(OnOwnDevice(source, number)->encoder_device ==
            model::FindComputeDevice("auto", number)->name);
    source.encoder_device = "cuda";
    const auto wanted = model::FindComputeDevice("cuda", number);
    const auto found = OnOwnDevice(source, number);
    REQUIRE(found.ok() == wanted.ok());
    if (found.ok()) {
      REQUIRE(found->encoder_device == wanted->name);
    } else {
      doubles::LeaveOutGpu(runtime::Message(wanted.status()));
    }
  }
  const EncoderSource nowhere{.encoder = "gpt2:tiny", .encoder_device = "abacus"};
  REQUIRE(Contains(runtime::Message(OnOwnDevice(nowhere, 0).status()), "device 'abacus'"));
  REQUIRE(OnOwnDevice({.encoder_device = "abacus"}, 0)->encoder_device == "abacus");
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
                         "inference.encoder_precision=bfloat16",
                         "inference.encoder_cache=vectors.sqlite",
                         "inference.encoder_cache_bytes=1000000"})
              .ok());
  REQUIRE(options.source.encoder == "both:tiny");
  REQUIRE(options.source.encoder_device == "cuda:1");
  REQUIRE(options.source.encoder_precision == "bfloat16");
  REQUIRE(options.source.encoder_table == "data/encoder/lexical.idf");
  REQUIRE(options.caches.encoder_cache == "vectors.sqlite");
  REQUIRE(options.caches.encoder_cache_bytes == 1000000);
  REQUIRE_FALSE(config.Load("", {"inference.encoder_cache_bytes=1000"}).ok());
  REQUIRE(Contains(runtime::Message(config.Load("", {"inference.encoder_precision=half"})),
                   "inference.encoder_precision"));
}

}  // namespace
}  // namespace shoal::embedding
