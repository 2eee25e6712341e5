// SPDX-License-Identifier: Apache-2.0
#include "text/language/bert_folder.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "platform/runtime/atomic_file.h"
#include "rl/model/safetensors_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::language {
namespace {

using doubles::TemporaryFolder;
using nlohmann::json;

constexpr char kBertInput[] = "tests/text/language/golden/bert";

struct BertTensor {
  runtime::Shape shape;
  std::vector<float> values;
};
using BertTensors = std::map<std::string, BertTensor>;

json ConfigOfGolden() {
  return json::parse(runtime::ReadFile(std::string(kBertInput) + "/config.json").value());
}

BertTensors TensorsOfGolden() {
  const auto file =
      model::SafetensorsFile::Open(std::string(kBertInput) + "/model.safetensors").value();
  BertTensors tensors;
  for (const auto& entry : file.view().entries()) {
    tensors[entry.name] = {entry.shape, file.view().Floats(entry.name, entry.shape).value()};
  }
  return tensors;
}

absl::StatusOr<BertParameters> ReadWritten(const json& config, const BertTensors& tensors) {
  const TemporaryFolder folder;
  std::vector<model::SafetensorsItem> items;
  for (const auto& [name, tensor] : tensors) {
    items.push_back(
        {name, {runtime::DType::kFloat32, tensor.shape, std::as_bytes(std::span(tensor.values))}});
  }
  REQUIRE(model::WriteSafetensorsFile(folder.At("model.safetensors"), items, {}).ok());
  REQUIRE(runtime::WriteFileAtomically(folder.At("config.json"), config.dump()).ok());
  return ReadBertFolder(folder.path());
}

std::string ErrorOfConfig(const std::string& key, const json& value) {
  json config = ConfigOfGolden();
  config[key] = value;
  const absl::Status status = BertConfig::Parse(config.dump(), "config.json").status();
  INFO(status.ToString());
  REQUIRE(absl::IsInvalidArgument(status));
  return runtime::Message(status);
}

std::string ErrorOfTensors(const std::function<void(BertTensors&)>& change) {
  BertTensors tensors = TensorsOfGolden();
  change(tensors);
  const absl::Status status = ReadWritten(ConfigOfGolden(), tensors).status();
  INFO(status.ToString());
  REQUIRE(absl::IsInvalidArgument(status));
  return runtime::Message(status);
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("names with \"bert.\" before them are the same parameters") {
  const auto plain = ReadBertFolder(kBertInput);
  REQUIRE(plain.ok());
  BertTensors named;
  for (const auto& [name, tensor] : TensorsOfGolden()) named["bert." + name] = tensor;
  named["cls.predictions.bias"] = {{1}, {0}};
  const auto read = ReadWritten(ConfigOfGolden(), named);
  INFO(read.status().ToString());
  REQUIRE(read.ok());
  REQUIRE(read->flat == plain->flat);
  REQUIRE(read->config == plain->config);
}

TEST_CASE("sizes of a config are read, and the norm's epsilon may be missing") {
  json config = ConfigOfGolden();
  config.erase("layer_norm_eps");
  const BertConfig read = BertConfig::Parse(config.dump(), "config.json").value();
  REQUIRE(read == BertConfig{.vocabulary_size = 200,
                             .positions = 48,
                             .types = 2,
                             .width = 32,
                             .inner = 80,
                             .layers = 3,
                             .heads = 4});
  REQUIRE(BertConfig::Parse(read.ToJson(), "own").value() == read);
}

TEST_CASE("a config of another model is refused by its key") {
  REQUIRE(ErrorOfConfig("model_type", "gpt2") ==
          "config.json: /model_type is \"gpt2\"; only \"bert\" is supported");
  REQUIRE(Has(ErrorOfConfig("hidden_act", "relu"), "/hidden_act"));
  REQUIRE(
      Has(ErrorOfConfig("position_embedding_type", "relative_key"), "/position_embedding_type"));
  REQUIRE(Has(ErrorOfConfig("hidden_size", 33), "/hidden_size is no multiple"));
  REQUIRE(Has(ErrorOfConfig("hidden_size", nullptr), "/hidden_size"));
  REQUIRE(Has(ErrorOfConfig("vocab_size", 1 << 21), "/vocab_size is 2097152"));
  REQUIRE(Has(ErrorOfConfig("num_hidden_layers", 0), "/num_hidden_layers"));
  REQUIRE(Has(ErrorOfConfig("layer_norm_eps", -1.0), "/layer_norm_eps"));
  REQUIRE(Has(ErrorOfConfig("layer_norm_eps", "x"), "/layer_norm_eps"));
  REQUIRE(absl::IsInvalidArgument(BertConfig::Parse("[]", "config.json").status()));
  REQUIRE(absl::IsInvalidArgument(BertConfig::Parse("{", "config.json").status()));
}

TEST_CASE("a tensor that is missing, misshapen, unknown or not finite is named") {
  const std::string bias = "encoder.layer.1.attention.self.key.bias";
  REQUIRE(Has(ErrorOfTensors([&](auto& all) { all.erase(bias); }), bias + "' is missing"));
  REQUIRE(Has(ErrorOfTensors([&](auto& all) { all[bias] = {{1}, {0}}; }), bias + "' has shape"));
  REQUIRE(Has(ErrorOfTensors([](auto& all) { all["other"] = {{1}, {0}}; }), "'other' belongs to"));
  REQUIRE(Has(ErrorOfTensors(
                  [&](auto& all) { all[bias].values[0] = std::numeric_limits<float>::infinity(); }),
              bias + "' holds what is no finite number"));
}

TEST_CASE("a folder without a file is not found") {
  const TemporaryFolder folder;
  REQUIRE(absl::IsNotFound(ReadBertFolder(folder.path()).status()));
  std::filesystem::copy_file(std::string(kBertInput) + "/config.json", folder.At("config.json"));
  REQUIRE(absl::IsNotFound(ReadBertFolder(folder.path()).status()));
}

}  // namespace
}  // namespace shoal::language
