// SPDX-License-Identifier: Apache-2.0
// A small service on disk, a tokenizer of bytes, and the dataset that is built of both.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/doubles/temporary_folder.h"
#include "text/bpe/tokenizer_json.h"
#include "text/bpe/tokenizer_trainer.h"
#include "text/dataset/build.h"

namespace shoal::dataset {

inline std::string ContentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline bool Says(const absl::Status& status, const std::string& part) {
  INFO(status.ToString());
  return std::string(status.message()).find(part) != std::string::npos;
}

// Writes a tokenizer whose tokens are the bytes and "<|endoftext|>", which is token 0.
inline std::string WriteByteTokenizer(const doubles::TemporaryFolder& folder) {
  auto trainer = tokens::TokenizerTrainer::Create({.vocabulary_size = 257}).value();
  const std::string path = folder.At("bytes/tokenizer.json");
  REQUIRE(tokens::SaveTokenizer(*trainer.Train({}).value(), path).ok());
  return path;
}

// Writes a service root, a system with an action, and a schema file.
inline std::string WriteSmallCapture(const doubles::TemporaryFolder& folder,
                                     const std::string& name) {
  const std::string root = name + "/redfish/v1/";
  folder.Write(root + "index.json", R"({"@odata.id":"/redfish/v1","Name":"Root",
    "DateTime":"2026-01-01T00:00:00Z","Systems":{"@odata.id":"/redfish/v1/Systems"}})");
  folder.Write(root + "Systems/1/index.json", R"({"@odata.id":"/redfish/v1/Systems/1",
    "@odata.type":"#ComputerSystem.v1_13_0.ComputerSystem",
    "Actions":{"#ComputerSystem.Reset":{"ResetType@Redfish.AllowableValues":["On","ForceOff"],
    "target":"/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"}}})");
  folder.Write(root + "JsonSchemas/Chassis/index.json",
               R"({"@odata.id":"/redfish/v1/JsonSchemas/Chassis","Name":"Chassis"})");
  return folder.At(name);
}

inline BuildOptions SmallBuild(const doubles::TemporaryFolder& folder, const std::string& output) {
  return {.captures = {WriteSmallCapture(folder, "lab")},
          .tokenizer = WriteByteTokenizer(folder),
          .output = folder.At(output),
          .chunk_tokens = 128,
          .overlap = 16};
}

inline Manifest BuildSmall(const doubles::TemporaryFolder& folder, const std::string& output) {
  auto manifest = BuildDataset(SmallBuild(folder, output), {});
  INFO(manifest.status().ToString());
  REQUIRE(manifest.ok());
  return *std::move(manifest);
}

}  // namespace shoal::dataset
