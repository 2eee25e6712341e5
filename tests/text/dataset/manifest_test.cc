// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/manifest.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/text/dataset/small_dataset.h"

namespace shoal::dataset {
namespace {

using Json = nlohmann::json;

Manifest SmallManifest() {
  Manifest manifest{.chunk_tokens = 16, .overlap = 2, .seed = ~std::uint64_t{0}};
  manifest.canonicaliser = "rfc8785/1";
  manifest.volatile_names = {"DateTime"};
  manifest.tokenizer_fingerprint = std::string(64, 'a');
  manifest.vocabulary_size = 257;
  manifest.chunks = 3;
  manifest.tokens = 40;
  manifest.spans[0] = 3;
  manifest.captures = {
      {.name = "b", .digest = std::string(64, '0'), .licence = "MIT", .chunks = 2, .tokens = 30},
      {.name = "a", .digest = std::string(64, '0'), .chunks = 1, .tokens = 10}};
  const FileRecord file{.bytes = 5, .sha256 = std::string(64, 'f')};
  manifest.files = {{std::string(kChunksFile), file}, {std::string(kTokenizerFile), file}};
  return manifest;
}

// Returns the status of the manifest with `value` at `pointer`.
absl::Status ParsedWith(const char* pointer, const Json& value) {
  Json json = Json::parse(SmallManifest().ToJson());
  json[Json::json_pointer(pointer)] = value;
  return Manifest::Parse(json.dump()).status();
}

}  // namespace

TEST_CASE("a manifest is read as it was written") {
  const std::string written = SmallManifest().ToJson();
  const auto manifest = Manifest::Parse(written);
  REQUIRE(manifest.ok());
  REQUIRE(manifest->ToJson() == written);
  REQUIRE(manifest->Licences() == std::vector<std::string>{"MIT"});
}

TEST_CASE("a manifest is refused with the byte or the member that is wrong") {
  REQUIRE(Says(Manifest::Parse("{\"format\": ").status(), "byte"));
  const auto refused = [](const char* pointer, const Json& value, const std::string& part) {
    const absl::Status status = ParsedWith(pointer, value);
    INFO(pointer);
    return absl::IsDataLoss(status) && Says(status, part);
  };
  REQUIRE(refused("/format", "other", "/format"));
  REQUIRE(refused("/chunk_tokens", -1, "/chunk_tokens"));
  REQUIRE(refused("/overlap", 16, "/overlap"));
  REQUIRE(refused("/prompt", 1, "/prompt"));
  REQUIRE(refused("/seed", -1, "/seed"));
  REQUIRE(refused("/volatile/0", 1, "/volatile/0"));
  REQUIRE(refused("/tokenizer/fingerprint", "x", "/tokenizer/fingerprint"));
  REQUIRE(refused("/spans/target", nullptr, "/spans/target"));
  REQUIRE(refused("/captures", Json::array(), "/captures is empty"));
  REQUIRE(refused("/captures/1/name", "b", "/captures/1"));
  REQUIRE(refused("/captures/1/chunks", 2, "/captures/1"));
  REQUIRE(refused("/captures/1/tokens", 9, "/captures have"));
  REQUIRE(refused("/files/chunks.bin/sha256", std::string(64, 'F'), "/files/chunks.bin/sha256"));
  REQUIRE(refused("/files/other", Json::object(), "/files has"));
}

}  // namespace shoal::dataset
