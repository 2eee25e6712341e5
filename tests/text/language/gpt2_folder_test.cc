// SPDX-License-Identifier: Apache-2.0
#include "text/language/gpt2_folder.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "platform/runtime/atomic_file.h"
#include "rl/model/safetensors_file.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/text/language/small_gpt2.h"
#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

using doubles::TemporaryFolder;
using model::SafetensorsItem;
using runtime::Tensor;

// A file's tensors, which a test changes and writes again.
struct Tensors {
  explicit Tensors(const std::string& folder) : path(folder + "/" + kWeightsFile) {
    const auto file = model::SafetensorsFile::Open(path).value();
    for (const auto& entry : file.view().entries()) {
      Tensor tensor(entry.dtype, entry.shape);
      std::copy(entry.bytes.begin(), entry.bytes.end(), tensor.mutable_bytes().begin());
      all[entry.name] = std::move(tensor);
    }
  }
  void Write() const {
    std::vector<SafetensorsItem> items;
    for (const auto& [name, tensor] : all) items.push_back({name, tensor});
    REQUIRE(model::WriteSafetensorsFile(path, items, {{"format", "pt"}}).ok());
  }

  std::string path;
  std::map<std::string, Tensor> all;
};

std::string ErrorAfter(const std::function<void(std::map<std::string, Tensor>&)>& change) {
  const TemporaryFolder folder;
  const Gpt2Parameters parameters = SmallGpt2();
  REQUIRE(WriteGpt2Folder(folder.path(), parameters.config, parameters.flat).ok());
  Tensors tensors(folder.path());
  change(tensors.all);
  tensors.Write();
  const auto read = ReadGpt2Folder(folder.path());
  if (read.ok()) return "";
  const std::string message(read.status().message());
  REQUIRE(message.find(folder.At(kWeightsFile)) == 0);
  return message.substr(folder.At(kWeightsFile).size() + 2);
}

TEST_CASE("a model that was written comes back bit by bit") {
  const TemporaryFolder folder;
  const Gpt2Parameters parameters = SmallGpt2();
  REQUIRE(WriteGpt2Folder(folder.path(), parameters.config, parameters.flat).ok());
  const Gpt2Parameters read = ReadGpt2Folder(folder.path()).value();
  REQUIRE(read.config == parameters.config);
  const auto layout = Gpt2Layout(parameters.config);
  for (const auto& info : layout.parameters) {
    const auto begin = parameters.flat.begin() + info.offset;
    REQUIRE(std::equal(begin, begin + info.size, read.flat.begin() + info.offset));
  }
}

TEST_CASE("half precision loses what it must and no more") {
  const Gpt2Parameters parameters = SmallGpt2();
  for (const auto& [dtype, epsilon] : {std::pair(runtime::DType::kBFloat16, 1.0 / 256),
                                       std::pair(runtime::DType::kFloat16, 1.0 / 2048)}) {
    const TemporaryFolder folder;
    REQUIRE(WriteGpt2Folder(folder.path(), parameters.config, parameters.flat, dtype).ok());
    const Gpt2Parameters read = ReadGpt2Folder(folder.path()).value();
    const auto layout = Gpt2Layout(parameters.config);
    for (const auto& info : layout.parameters) {
      for (std::int64_t i = info.offset; i < info.offset + info.size; ++i) {
        const float was = parameters.flat[static_cast<std::size_t>(i)];
        const float is = read.flat[static_cast<std::size_t>(i)];
        REQUIRE(std::abs(was - is) <= epsilon * std::abs(was) + 1e-7);
      }
    }
  }
}

TEST_CASE("files of the Hub load: no prefix, buffers of the attention, the output once more") {
  REQUIRE(ErrorAfter([](auto& tensors) {
            std::map<std::string, Tensor> bare;
            for (auto& [name, tensor] : tensors) bare[name.substr(kPrefix.size())] = tensor;
            bare["h.0.attn.bias"] = Tensor(runtime::DType::kUInt8, {1, 1, 32, 32});
            bare["h.2.attn.masked_bias"] = Tensor(runtime::DType::kFloat32, {});
            bare["lm_head.weight"] = bare.at("wte.weight");
            tensors = bare;
          }).empty());
  REQUIRE(ErrorAfter([](auto& tensors) {
            tensors["transformer.h.1.attn.bias"] = Tensor(runtime::DType::kBool, {1, 1, 32, 32});
            tensors["lm_head.weight"] = tensors.at("transformer.wte.weight");
          }).empty());
}

TEST_CASE("a tensor that is missing, misshapen, unknown, untied or not finite is named") {
  const std::string weight = "transformer.h.1.mlp.c_fc.weight";
  REQUIRE(ErrorAfter([&](auto& tensors) { tensors.erase(weight); }) ==
          "tensor '" + weight + "' is missing");
  REQUIRE(ErrorAfter([&](auto& tensors) {
            tensors[weight] = Tensor(runtime::DType::kFloat32, {64, 16});
          }) == "tensor '" + weight + "' has shape [64, 16] instead of [16, 64]");
  REQUIRE(ErrorAfter([](auto& tensors) {
            tensors["transformer.h.3.ln_1.weight"] = tensors.at("transformer.h.1.ln_1.weight");
          }).find("'transformer.h.3.ln_1.weight' belongs to no GPT-2") != std::string::npos);
  REQUIRE(ErrorAfter([](auto& tensors) {
            tensors["lm_head.weight"] = Tensor(runtime::DType::kFloat32, {50, 16});
          }).find("only tied") != std::string::npos);
  REQUIRE(ErrorAfter([&](auto& tensors) {
            tensors.at(weight).template mutable_values<float>()[5] =
                std::numeric_limits<float>::infinity();
          }).find("'" + weight + "' holds what is no finite number") != std::string::npos);
  REQUIRE(ErrorAfter([&](auto& tensors) {
            tensors[weight] = Tensor(runtime::DType::kInt64, {16, 64});
          }).find("'" + weight + "' holds no floating-point numbers") != std::string::npos);
}

TEST_CASE("absent and broken files are errors that name them") {
  const TemporaryFolder folder;
  REQUIRE(absl::IsNotFound(ReadGpt2Folder(folder.At("absent")).status()));
  const Gpt2Parameters parameters = SmallGpt2();
  REQUIRE(WriteGpt2Folder(folder.path(), parameters.config, parameters.flat).ok());
  const std::string weights = runtime::ReadFile(folder.At(kWeightsFile)).value();
  folder.Write(kWeightsFile, weights.substr(0, weights.size() - 1));
  const absl::Status cut = ReadGpt2Folder(folder.path()).status();
  REQUIRE(absl::IsDataLoss(cut));
  REQUIRE(std::string(cut.message()).find(folder.At(kWeightsFile)) == 0);
  folder.Write(kConfigFile, "{}");
  const absl::Status bad = ReadGpt2Folder(folder.path()).status();
  REQUIRE(std::string(bad.message()) == folder.At(kConfigFile) + ": 'vocab_size' is missing");
}

TEST_CASE("a config that asks for more than the weights hold takes no memory") {
  const TemporaryFolder folder;
  const Gpt2Parameters parameters = SmallGpt2();
  REQUIRE(WriteGpt2Folder(folder.path(), parameters.config, parameters.flat).ok());
  Gpt2Config large = parameters.config;
  large.vocabulary_size = 1 << 20;
  large.width = 2048;
  large.layers = 32;
  folder.Write(kConfigFile, large.ToJson());
  REQUIRE(absl::IsInvalidArgument(ReadGpt2Folder(folder.path()).status()));
}

TEST_CASE("initial parameters are GPT-2's, a function of the seed") {
  const Gpt2Config config = SmallGpt2().config;
  const Gpt2Parameters one = InitialGpt2(config, 1).value();
  REQUIRE(one.flat == InitialGpt2(config, 1)->flat);
  REQUIRE(one.flat != InitialGpt2(config, 2)->flat);
  const auto layout = Gpt2Layout(config);
  const auto* norm = layout.Find("transformer.ln_f.weight");
  REQUIRE(one.flat[static_cast<std::size_t>(norm->offset)] == 1);
  const auto* wide = layout.Find("transformer.wte.weight");
  double square = 0;
  for (std::int64_t i = 0; i < wide->size; ++i) {
    square += std::pow(one.flat[static_cast<std::size_t>(wide->offset + i)], 2);
  }
  REQUIRE(std::sqrt(square / static_cast<double>(wide->size)) == Approx(0.02).epsilon(0.1));
  Gpt2Config bad = config;
  bad.heads = 3;
  REQUIRE(absl::IsInvalidArgument(InitialGpt2(bad, 1).status()));
}

}  // namespace
}  // namespace shoal::language
