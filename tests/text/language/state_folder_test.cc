// SPDX-License-Identifier: Apache-2.0
#include "text/language/state_folder.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "platform/runtime/atomic_file.h"
#include "rl/model/safetensors.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::language {
namespace {

StateParameters Some(std::uint64_t seed = 1) {
  StateParameters parameters{{.base = "gpt2:tiny",
                              .base_version = "gpt2-0",
                              .width = 8,
                              .channels = 12,
                              .kernel = 3,
                              .layers = 2,
                              .latent = 6},
                             {}};
  const auto layout = PoolingLayout(parameters.config);
  parameters.flat.resize(static_cast<std::size_t>(layout.total));
  layout.Initialise(seed, parameters.flat);
  return parameters;
}

std::string ErrorOf(const std::string& folder) {
  return runtime::Message(ReadStateFolder(folder).status());
}

TEST_CASE("what was written is read again, to half precision and without the decoder") {
  const doubles::TemporaryFolder folder;
  StateParameters written = Some();
  const std::size_t pooling = written.flat.size();
  const auto whole = StateLayout(written.config);
  for (const auto& info : PoolingLayout(written.config).parameters) {
    REQUIRE(whole.Find(info.name)->offset == PoolingLayout(written.config).Find(info.name)->offset);
  }
  written.flat.resize(static_cast<std::size_t>(whole.total), 3.0F);
  REQUIRE(WriteStateFolder(folder.path(), written.config, written.flat).ok());
  const StateParameters read = ReadStateFolder(folder.path()).value();
  REQUIRE(read.config == written.config);
  REQUIRE(read.flat.size() == pooling);
  for (std::size_t i = 0; i < pooling; ++i) {
    REQUIRE(read.flat[i] == Approx(written.flat[i]).epsilon(1e-3).margin(1e-6));
  }
}

TEST_CASE("a state encoder's config that is wrong is named with file and key") {
  const std::string sound = Some().config.ToJson();
  REQUIRE(StateConfig::Parse(sound, "f").value() == Some().config);
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string text = sound;
    text.replace(text.find(from), from.size(), to);
    return runtime::Message(StateConfig::Parse(text, "config.json").status());
  };
  REQUIRE(error("shoal-state", "gpt2") == "config.json: /model_type is not \"shoal-state\"");
  REQUIRE(error("\"kernel\": 3", "\"kernel\": 4") == "config.json: /kernel is 4, which is not odd");
  REQUIRE(error("\"layers\": 2", "\"layers\": 7") ==
          "config.json: /layers is 7, not within 1 and 6");
  REQUIRE(error("\"latent\": 6", "\"latent\": -6").starts_with("config.json: /latent"));
  REQUIRE(error("\"base\": \"gpt2:tiny\"", "\"base\": 1").starts_with("config.json: /base"));
  REQUIRE(error("{", "[").starts_with("config.json: "));
}

TEST_CASE("weights that do not fit the config are named with file and tensor") {
  const doubles::TemporaryFolder folder;
  REQUIRE(absl::IsNotFound(ReadStateFolder(folder.path()).status()));
  const StateParameters some = Some();
  REQUIRE(WriteStateFolder(folder.path(), some.config, some.flat).ok());
  StateConfig other = some.config;
  other.latent = 7;
  REQUIRE(runtime::WriteFileAtomically(folder.At("config.json"), other.ToJson()).ok());
  REQUIRE(ErrorOf(folder.path()) ==
          folder.At("model.safetensors") +
              ": tensor 'latent.weight' has shape [6, 24] instead of [7, 24]");
  other = some.config;
  other.layers = 1;
  REQUIRE(runtime::WriteFileAtomically(folder.At("config.json"), other.ToJson()).ok());
  REQUIRE(ErrorOf(folder.path()).find("belongs to no state encoder of this config") !=
          std::string::npos);
  other.layers = 3;
  REQUIRE(runtime::WriteFileAtomically(folder.At("config.json"), other.ToJson()).ok());
  REQUIRE(ErrorOf(folder.path()).find("tensor 'conv.2.weight' is missing") != std::string::npos);
  StateParameters spoilt = some;
  spoilt.flat[0] = std::numeric_limits<float>::infinity();
  REQUIRE(WriteStateFolder(folder.path(), spoilt.config, spoilt.flat).ok());
  REQUIRE(ErrorOf(folder.path()) ==
          folder.At("model.safetensors") + ": tensor 'input.mean' holds what is no finite number");
}

}  // namespace
}  // namespace shoal::language
