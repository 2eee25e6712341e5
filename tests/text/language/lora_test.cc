// SPDX-License-Identifier: Apache-2.0
#include "text/language/lora.h"

#include <catch2/catch.hpp>

#include "rl/model/safetensors_file.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/text/language/small_gpt2.h"

namespace shoal::language {
namespace {

const LoraOptions kOptions{.rank = 3, .alpha = 1.5, .layers = {"attn.c_proj", "mlp.c_fc"}};

TEST_CASE("an adapter comes back from its file under PEFT's names") {
  const doubles::TemporaryFolder folder;
  const Gpt2Config config = SmallGpt2().config;
  LoraParameters adapter = InitialLora(config, kOptions, 5).value();
  const std::string path = folder.At("adapter.safetensors");
  REQUIRE(WriteLora(path, config, adapter).ok());
  const LoraParameters read = ReadLora(path, config).value();
  REQUIRE(read.flat == adapter.flat);
  REQUIRE(read.options.rank == 3);
  REQUIRE(read.options.alpha == 1.5);
  REQUIRE(read.options.layers == kOptions.layers);
  const auto file = model::SafetensorsFile::Open(path).value();
  const auto* entry = file.view().Find("base_model.model.transformer.h.2.mlp.c_fc.lora_B.weight");
  REQUIRE(entry != nullptr);
  REQUIRE(entry->shape == runtime::Shape{64, 3});
}

TEST_CASE("an adapter of another model, or without its options, is refused by name") {
  const doubles::TemporaryFolder folder;
  const Gpt2Config config = SmallGpt2().config;
  const std::string path = folder.At("adapter.safetensors");
  REQUIRE(WriteLora(path, config, InitialLora(config, kOptions, 5).value()).ok());
  Gpt2Config other = config;
  other.layers = 4;
  const std::string message(ReadLora(path, other).status().message());
  REQUIRE(message.find(path) == 0);
  REQUIRE(message.find("transformer.h.3.attn.c_proj.lora_A") != std::string::npos);
  other.layers = 2;
  REQUIRE_FALSE(ReadLora(path, other).ok());
  REQUIRE(model::WriteSafetensorsFile(path, {}, {{"rank", "3"}}).ok());
  REQUIRE(std::string(ReadLora(path, config).status().message()).find("'alpha' is missing") !=
          std::string::npos);
  REQUIRE(
      model::WriteSafetensorsFile(path, {}, {{"rank", "x"}, {"alpha", "1"}, {"layers", "a"}}).ok());
  REQUIRE_FALSE(ReadLora(path, config).ok());
}

TEST_CASE("options out of range are refused") {
  const Gpt2Config config = SmallGpt2().config;
  for (const LoraOptions& bad :
       {LoraOptions{.rank = 0}, LoraOptions{.rank = 5000}, LoraOptions{.layers = {}},
        LoraOptions{.layers = {"ln_1"}}, LoraOptions{.layers = {"mlp.c_fc", "mlp.c_fc"}}}) {
    REQUIRE(absl::IsInvalidArgument(InitialLora(config, bad, 1).status()));
  }
}

TEST_CASE("a new adapter merges into the same parameters") {
  Gpt2Parameters parameters = SmallGpt2();
  const std::vector<float> before = parameters.flat;
  MergeLora(InitialLora(parameters.config, kOptions, 5).value(), parameters);
  REQUIRE(parameters.flat == before);
}

}  // namespace
}  // namespace shoal::language
