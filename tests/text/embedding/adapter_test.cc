// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/adapter.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "platform/runtime/atomic_file.h"
#include "rl/model/safetensors.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/text/embedding/counting_encoder.h"
#include "tests/text/embedding/small_adapter.h"

namespace shoal::embedding {
namespace {

using doubles::TemporaryFolder;

AdapterParameters Small() {
  Calls calls;
  return SmallAdapter(CountingEncoder(calls));
}

std::string RefusalOf(const AdapterParameters& adapter) {
  const absl::Status status = Validate(adapter);
  REQUIRE(absl::IsInvalidArgument(status));
  return runtime::Message(status);
}

TEST_CASE("an affine map gives the row times the weights plus the bias, at length 1") {
  const AffineMap map{{1, 2, 3, 4, 5, 6}, {0.5F, -1, 2}};
  std::vector<float> out(3);
  Apply(map, std::vector<float>{2, -1}, out);
  // 2 (1 2 3) - (4 5 6) + (0.5 -1 2) = (-1.5 -2 2)
  const float length = std::sqrt(1.5F * 1.5F + 4 + 4);
  REQUIRE(out[0] == Approx(-1.5F / length));
  REQUIRE(out[1] == Approx(-2 / length));
  REQUIRE(out[2] == Approx(2 / length));
}

TEST_CASE("the zero vector of a text without words stays zero, whatever the bias") {
  std::vector<float> out = {7, 7};
  Apply({{1, 2}, {3, 4}}, std::vector<float>{0}, out);
  REQUIRE(out == std::vector<float>{0, 0});
}

TEST_CASE("an adapter that was written is read again, rounded to half precision") {
  const TemporaryFolder folder;
  const AdapterParameters written = Small();
  REQUIRE(WriteAdapter(folder.At("new/adapter"), written).ok());
  const auto read = ReadAdapter(folder.At("new/adapter"));
  INFO(read.status().ToString());
  REQUIRE(read.ok());
  REQUIRE(read->base == written.base);
  REQUIRE(read->base_version == written.base_version);
  REQUIRE(read->base_size == written.base_size);
  REQUIRE(read->size == written.size);
  REQUIRE(read->base_share == written.base_share);
  REQUIRE(read->captures == written.captures);
  REQUIRE(read->sentences.weights.size() == written.sentences.weights.size());
  for (std::size_t i = 0; i < written.requests.weights.size(); ++i) {
    REQUIRE(read->requests.weights[i] ==
            runtime::FromHalf(runtime::ToHalf(written.requests.weights[i])));
  }
  // What was read is written as the same bytes.
  REQUIRE(WriteAdapter(folder.At("again"), *read).ok());
  const auto bytes = [&](const char* name) {
    return runtime::ReadFile(folder.At(std::string(name) + "/" + kAdapterFile)).value();
  };
  REQUIRE(bytes("again") == bytes("new/adapter"));
}

TEST_CASE("an adapter whose parts do not fit each other is refused by name") {
  AdapterParameters adapter = Small();
  adapter.base = "gpt2:tiny";
  REQUIRE(RefusalOf(adapter).find("gpt2:tiny") != std::string::npos);
  adapter = Small();
  adapter.size = 0;
  REQUIRE(RefusalOf(adapter).find("size 0") != std::string::npos);
  adapter = Small();
  adapter.base_share = std::nan("");
  REQUIRE(RefusalOf(adapter).find("share") != std::string::npos);
  adapter = Small();
  adapter.requests.bias.pop_back();
  REQUIRE(RefusalOf(adapter).find("map of requests") != std::string::npos);
  adapter = Small();
  adapter.sentences.weights[3] = std::numeric_limits<float>::infinity();
  REQUIRE(RefusalOf(adapter).find("map of sentences") != std::string::npos);
}

TEST_CASE("a file that is no adapter is an error that names it, and never a crash") {
  const TemporaryFolder folder;
  REQUIRE(absl::IsNotFound(ReadAdapter(folder.At("none")).status()));
  const std::string path = folder.path() + "/" + kAdapterFile;
  REQUIRE(WriteAdapter(folder.path(), Small()).ok());
  const std::string whole = runtime::ReadFile(path).value();
  const auto refuses = [&](const std::string& bytes) {
    REQUIRE(runtime::WriteFileAtomically(path, bytes).ok());
    const absl::Status status = ReadAdapter(folder.path()).status();
    INFO(status.ToString());
    REQUIRE_FALSE(status.ok());
    REQUIRE(runtime::Message(status).find(kAdapterFile) != std::string::npos);
  };
  for (std::size_t size = 0; size < whole.size(); size += 37) refuses(whole.substr(0, size));
  const runtime::Tensor row(runtime::DType::kFloat16, {4});
  runtime::TensorView view;
  view.dtype = row.dtype();
  view.shape = row.shape();
  view.bytes = row.bytes();
  model::Metadata metadata = {
      {"base", "lexical"}, {"base_version", "v"}, {"base_share", "0.1"}, {"captures", "[]"}};
  const std::vector<model::SafetensorsItem> items = {{"sentences.weight", view}};
  refuses(model::WriteSafetensors(items, metadata));
  metadata["captures"] = "[1]";
  refuses(model::WriteSafetensors(items, metadata));
  metadata["base_share"] = "much";
  refuses(model::WriteSafetensors(items, metadata));
  metadata.erase("base");
  refuses(model::WriteSafetensors(items, metadata));
}

}  // namespace
}  // namespace shoal::embedding
