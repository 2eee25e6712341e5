// SPDX-License-Identifier: Apache-2.0
#include "text/language/gpt2_config.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

using nlohmann::json;

// The Hub's configuration of its oldest GPT-2, including fields that are not about the
// architecture.
json HubConfig() {
  return json::parse(R"({
    "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
    "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
    "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1, "summary_type": "cls_index",
    "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}},
    "vocab_size": 50257})");
}

std::string Error(const json& values) {
  return std::string(Gpt2Config::Parse(values.dump(), "m/config.json").status().message());
}

TEST_CASE("presets have the sizes that they are known for") {
  const auto count = [](const char* name) {
    return Gpt2Config::Preset(name).value().parameter_count();
  };
  REQUIRE(count("small") == 124'439'808);
  REQUIRE(count("medium") == 354'823'168);
  REQUIRE(count("large") == 774'030'080);
  REQUIRE(count("xl") == 1'557'611'200);
  REQUIRE(count("tiny") <= 2'000'000);
  REQUIRE(Gpt2Config::Preset("tiny")->vocabulary_size <= 8'192);
  REQUIRE(absl::IsNotFound(Gpt2Config::Preset("huge").status()));
}

TEST_CASE("the layout holds every parameter once") {
  for (const char* name : {"tiny", "small", "xl"}) {
    const Gpt2Config config = Gpt2Config::Preset(name).value();
    std::int64_t count = 0;
    for (const auto& info : Gpt2Layout(config).parameters) count += info.size;
    REQUIRE(count == config.parameter_count());
  }
}

TEST_CASE("a config of the Hub is read") {
  const Gpt2Config config = Gpt2Config::Parse(HubConfig().dump(), "config.json").value();
  REQUIRE(config == Gpt2Config::Preset("small").value());
}

TEST_CASE("a config comes back as it was written") {
  Gpt2Config config = Gpt2Config::Preset("tiny").value();
  config.norm_epsilon = 1e-6;
  config.begin_token = -1;
  REQUIRE(Gpt2Config::Parse(config.ToJson(), "config.json").value() == config);
}

TEST_CASE("what would be another model is refused by file and key") {
  const auto with = [](const char* key, const json& value) {
    json values = HubConfig();
    values[key] = value;
    return Error(values);
  };
  REQUIRE(with("activation_function", "relu") ==
          "m/config.json: 'activation_function' is \"relu\"; only \"gelu_new\" is supported");
  REQUIRE(with("n_head", 11).find("m/config.json: 'n_embd'") == 0);
  REQUIRE(with("n_embd", "768").find("'n_embd' is no size") != std::string::npos);
  REQUIRE(with("n_layer", 0).find("'n_layer'") != std::string::npos);
  REQUIRE(with("n_layer", -1).find("'n_layer'") != std::string::npos);
  REQUIRE(with("vocab_size", 1e30).find("'vocab_size'") != std::string::npos);
  REQUIRE(with("vocab_size", std::uint64_t{1} << 63).find("'vocab_size'") != std::string::npos);
  REQUIRE(with("n_embd", 16380).find("parameters; at most") != std::string::npos);
  REQUIRE(with("n_inner", 5).find("'n_inner'") != std::string::npos);
  REQUIRE(with("n_inner", 3072).empty());
  REQUIRE(with("n_inner", nullptr).empty());
  REQUIRE(with("n_ctx", 5).find("'n_ctx'") != std::string::npos);
  REQUIRE(with("model_type", "llama").find("'model_type'") != std::string::npos);
  REQUIRE(with("tie_word_embeddings", false).find("'tie_word_embeddings'") != std::string::npos);
  REQUIRE(with("scale_attn_by_inverse_layer_idx", true).find("scale_attn") != std::string::npos);
  REQUIRE(with("layer_norm_epsilon", 0).find("'layer_norm_epsilon'") != std::string::npos);
  REQUIRE(with("layer_norm_epsilon", "x").find("'layer_norm_epsilon'") != std::string::npos);
  REQUIRE(with("eos_token_id", 50257).find("'eos_token_id'") != std::string::npos);
  json without = HubConfig();
  without.erase("n_embd");
  REQUIRE(Error(without) == "m/config.json: 'n_embd' is missing");
}

TEST_CASE("what is no JSON is refused by file and byte") {
  const auto error = [](const std::string& text) {
    return std::string(Gpt2Config::Parse(text, "f").status().message());
  };
  REQUIRE(error("{\"n_embd\" 1}") == "f is no JSON at byte 10");
  REQUIRE(error("[]") == "f: is no JSON object");
  REQUIRE_FALSE(Gpt2Config::Parse("", "f").ok());
  REQUIRE_FALSE(Gpt2Config::Parse("{\"n_embd\":1e999}", "f").ok());
  REQUIRE_FALSE(Gpt2Config::Parse(std::string(100'000, '['), "f").ok());
}

}  // namespace
}  // namespace shoal::language
