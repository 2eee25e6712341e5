// SPDX-License-Identifier: Apache-2.0
#include "rl/model/safetensors_file.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::model {
namespace {

using runtime::Tensor;

TEST_CASE("a file written in pieces is the file written at once, and maps back") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("new/weights.safetensors");
  const std::vector<float> values = {1, 2, 3};
  const Tensor tensor = Tensor::Of<float>({3}, values);
  const std::vector<SafetensorsItem> items = {{"a", tensor}, {"b", tensor}};
  REQUIRE(WriteSafetensorsFile(path, items, {{"format", "pt"}}).ok());
  REQUIRE(runtime::ReadFile(path).value() == WriteSafetensors(items, {{"format", "pt"}}));

  SafetensorsFile opened = SafetensorsFile::Open(path).value();
  const SafetensorsFile file = std::move(opened);
  REQUIRE(file.path() == path);
  REQUIRE(file.view().metadata().at("format") == "pt");
  REQUIRE(file.view().Floats("b", tensor.shape()).value() == values);
}

TEST_CASE("errors name the file") {
  const doubles::TemporaryFolder folder;
  const auto status = [&](const std::string& bytes) {
    const std::string path = folder.At("bad");
    REQUIRE(runtime::WriteFileAtomically(path, bytes).ok());
    return SafetensorsFile::Open(path).status();
  };
  REQUIRE(absl::IsDataLoss(status("")));
  REQUIRE(absl::IsDataLoss(status("1234")));
  const std::string message(status(std::string(8, '\0')).message());
  REQUIRE(message.find(folder.At("bad: ")) == 0);
  REQUIRE(absl::IsNotFound(SafetensorsFile::Open(folder.At("absent")).status()));
  REQUIRE(absl::IsInvalidArgument(SafetensorsFile::Open(folder.path()).status()));
}

}  // namespace
}  // namespace shoal::model
