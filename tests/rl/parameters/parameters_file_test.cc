// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/parameters_file.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "platform/runtime/atomic_file.h"
#include "tests/rl/parameters/values.h"

namespace shoal::parameters {
namespace {

TEST_CASE("a folder gives back the newest, the initial and each version by name") {
  const doubles::TemporaryFolder temporary;
  const ParametersFolder folder(temporary.path() + "/not/there/yet");
  REQUIRE(absl::IsNotFound(folder.LoadNewest().status()));
  REQUIRE(absl::IsNotFound(folder.LoadInitial().status()));
  REQUIRE(folder.Save(ParametersOf(1, 10)).ok());
  REQUIRE(folder.Save(ParametersOf(1, 9)).ok());
  REQUIRE(folder.Save(ParametersOf(2, 0)).ok());
  REQUIRE(folder.LoadNewest()->version == Version{.epoch = 2, .step = 0});
  REQUIRE(folder.LoadInitial()->version == Version{.epoch = 1, .step = 9});
  const auto loaded = folder.Load({.epoch = 1, .step = 10});
  REQUIRE(loaded.ok());
  REQUIRE(*loaded->bytes == *ParametersOf(1, 10).bytes);
  REQUIRE(loaded->spec_digest == "spec");
  REQUIRE(loaded->encoder_version == "encoder");
  REQUIRE(absl::IsNotFound(folder.Load({.epoch = 9, .step = 9}).status()));
}

TEST_CASE("a file that is damaged or incomplete is skipped for the newest, and an error by name") {
  const doubles::TemporaryFolder temporary;
  const ParametersFolder folder(temporary.path());
  REQUIRE(folder.Save(ParametersOf(1, 1)).ok());
  REQUIRE(folder.Save(ParametersOf(1, 2)).ok());
  REQUIRE(folder.Save(ParametersOf(1, 3)).ok());
  std::ofstream(folder.FileOf({.epoch = 1, .step = 2}), std::ios::app) << "more";
  std::ofstream(folder.FileOf({.epoch = 1, .step = 3}) + ".json") << "{\"sha256\": 3";
  std::ofstream(folder.FileOf({.epoch = 1, .step = 4})) << "no description yet";
  std::ofstream(temporary.path() + "/parameters-1-2.safetensors") << "another name";
  REQUIRE(folder.List().size() == 3);
  REQUIRE(folder.LoadNewest()->version == Version{.epoch = 1, .step = 1});
  REQUIRE(absl::IsDataLoss(folder.Load({.epoch = 1, .step = 2}).status()));
}

TEST_CASE("what a crash has left of a version is removed before the next one is saved") {
  const doubles::TemporaryFolder temporary;
  const ParametersFolder folder(temporary.path());
  REQUIRE(folder.Save(ParametersOf(1, 1)).ok());
  const std::string crashed = folder.FileOf({.epoch = 1, .step = 2});
  const std::vector<std::string> remains = {crashed, crashed + ".tmp-7", crashed + ".json.tmp-7"};
  for (const std::string& path : remains) std::ofstream(path) << "half of it";
  const std::string other = temporary.path() + "/notes.txt.tmp-7";
  std::ofstream(other) << "not ours";
  REQUIRE(folder.Save(ParametersOf(1, 3)).ok());
  for (const std::string& path : remains) REQUIRE_FALSE(std::ifstream(path).is_open());
  REQUIRE(std::ifstream(other).is_open());
  REQUIRE(folder.List() == std::vector<Version>{{1, 1}, {1, 3}});
}

TEST_CASE("a second writer costs the version that is being saved, and no complete one") {
  const doubles::TemporaryFolder temporary;
  const ParametersFolder folder(temporary.path());
  REQUIRE(folder.Save(ParametersOf(1, 1)).ok());
  REQUIRE(folder.Save(ParametersOf(1, 2)).ok());
  // One writer has yet to describe its version when another one saves.
  const std::string described = folder.FileOf({.epoch = 1, .step = 2}) + ".json";
  const std::string description = runtime::ReadFile(described).value();
  REQUIRE(std::filesystem::remove(described));
  REQUIRE(folder.Save(ParametersOf(1, 3)).ok());
  REQUIRE(runtime::WriteFileAtomically(described, description).ok());
  REQUIRE(folder.List() == std::vector<Version>{{1, 1}, {1, 3}});
  REQUIRE(absl::IsNotFound(folder.Load({.epoch = 1, .step = 2}).status()));
  REQUIRE(folder.LoadNewest()->version == Version{.epoch = 1, .step = 3});
}

TEST_CASE("keeping the newest keeps the initial one too") {
  const doubles::TemporaryFolder temporary;
  const ParametersFolder folder(temporary.path());
  for (std::uint64_t step = 0; step < 6; ++step) REQUIRE(folder.Save(ParametersOf(1, step)).ok());
  REQUIRE(folder.KeepNewest(2).ok());
  REQUIRE(folder.List() == std::vector<Version>{{1, 0}, {1, 4}, {1, 5}});
  REQUIRE(folder.KeepNewest(0).ok());
  REQUIRE(folder.List() == std::vector<Version>{{1, 0}});
}

}  // namespace
}  // namespace shoal::parameters
