// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/build.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/text/dataset/small_dataset.h"
#include "text/dataset/dataset.h"

namespace shoal::dataset {
namespace {

std::shared_ptr<const Dataset> Built(const BuildOptions& options) {
  const auto manifest = BuildDataset(options, {});
  INFO(manifest.status().ToString());
  REQUIRE(manifest.ok());
  return Dataset::Open(options.output).value();
}

std::vector<std::string> ChunkTexts(const Dataset& dataset) {
  const auto tokenizer = tokens::LoadTokenizer(dataset.folder()).value();
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    texts.push_back(tokenizer->Decode(dataset.tokens(i)).value());
  }
  return texts;
}

bool HasText(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(), [&part](const std::string& text) {
    return text.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("equal input gives equal files, byte for byte") {
  const doubles::TemporaryFolder folder;
  for (const std::uint64_t seed : {0, 7}) {
    for (const char* output : {"a", "b"}) {
      BuildOptions options = SmallBuild(folder, output);
      options.seed = seed;
      REQUIRE(Built(options)->Verify().ok());
    }
    for (const std::string_view file : {kManifestFile, kChunksFile, kTokenizerFile}) {
      REQUIRE(ContentsOf(folder.At("a/" + std::string(file))) ==
              ContentsOf(folder.At("b/" + std::string(file))));
    }
  }
}

TEST_CASE("a seed changes the order of chunks, and nothing else") {
  const doubles::TemporaryFolder folder;
  std::vector<std::string> ordered = ChunkTexts(*Built(SmallBuild(folder, "a")));
  BuildOptions options = SmallBuild(folder, "b");
  options.seed = 3;
  std::vector<std::string> shuffled = ChunkTexts(*Built(options));
  REQUIRE(ordered != shuffled);
  std::sort(ordered.begin(), ordered.end());
  std::sort(shuffled.begin(), shuffled.end());
  REQUIRE(ordered == shuffled);
}

TEST_CASE("schemas are left out and counted, unless they are asked for") {
  const doubles::TemporaryFolder folder;
  BuildOptions options = SmallBuild(folder, "a");
  const auto without = Built(options);
  REQUIRE(without->manifest().captures[0].left_out == 1);
  REQUIRE(without->manifest().captures[0].resources == 2);
  REQUIRE_FALSE(HasText(ChunkTexts(*without), "JsonSchemas/Chassis"));
  options.definitions = true;
  const auto with = Built(options);
  REQUIRE(with->manifest().captures[0].left_out == 0);
  REQUIRE(HasText(ChunkTexts(*with), "JsonSchemas/Chassis"));
}

TEST_CASE("volatile members are dropped as configured") {
  const doubles::TemporaryFolder folder;
  BuildOptions options = SmallBuild(folder, "a");
  REQUIRE_FALSE(HasText(ChunkTexts(*Built(options)), "DateTime"));
  options.volatile_names = {"Name"};
  const auto dataset = Built(options);
  REQUIRE(HasText(ChunkTexts(*dataset), "DateTime"));
  REQUIRE_FALSE(HasText(ChunkTexts(*dataset), "\"Name\""));
  REQUIRE(dataset->manifest().volatile_names == std::vector<std::string>{"Name"});
}

TEST_CASE("equal chunks of two captures are counted once, unless all are asked for") {
  const doubles::TemporaryFolder folder;
  BuildOptions options = SmallBuild(folder, "a");
  options.captures.push_back(WriteSmallCapture(folder, "twin"));
  const auto distinct = Built(options);
  const auto& captures = distinct->manifest().captures;
  REQUIRE(captures[1].chunks == 0);
  REQUIRE(captures[1].repeated == captures[0].chunks);
  options.distinct = false;
  const auto all = Built(options);
  REQUIRE(all->size() == 2 * distinct->size());
  REQUIRE(all->capture(0) == "lab");
  REQUIRE(all->capture(distinct->size()) == "twin");
}

TEST_CASE("chunks begin with the request line, or do not") {
  const doubles::TemporaryFolder folder;
  BuildOptions options = SmallBuild(folder, "a");
  for (const std::string& text : ChunkTexts(*Built(options))) {
    REQUIRE(text.starts_with("GET /redfish/v1"));
  }
  options.prompt = false;
  const auto plain = Built(options);
  REQUIRE(ChunkTexts(*plain)[0].starts_with("{"));
  REQUIRE(plain->spans(0)[0].begin == 0);
}

TEST_CASE("a licence is what is given, else what the capture says of itself") {
  const doubles::TemporaryFolder folder;
  BuildOptions options = SmallBuild(folder, "a");
  REQUIRE(Built(options)->manifest().Licences().empty());
  folder.Write("lab/LICENSE", "\n  BSD-3-Clause \nCopyright\n");
  REQUIRE(Built(options)->manifest().Licences() == std::vector<std::string>{"BSD-3-Clause"});
  options.licences = {{"", "MIT"}};
  REQUIRE(Built(options)->manifest().Licences() == std::vector<std::string>{"MIT"});
  options.licences["lab"] = "Zlib";
  REQUIRE(Built(options)->manifest().captures[0].licence == "Zlib");
  options.licences["other"] = "Zlib";
  REQUIRE(Says(BuildDataset(options, {}).status(), "other, which is no capture"));
}

TEST_CASE("what is built of a recorded service is told as it goes on") {
  const doubles::TemporaryFolder folder;
  std::set<std::size_t> done;
  const auto manifest = BuildDataset(SmallBuild(folder, "a"), [&](const BuildProgress& progress) {
    REQUIRE(progress.capture == "lab");
    REQUIRE(progress.resources == 3);
    done.insert(progress.done);
  });
  REQUIRE(manifest.ok());
  REQUIRE(done == std::set<std::size_t>{1, 2, 3});
}

TEST_CASE("what cannot be built is named") {
  const doubles::TemporaryFolder folder;
  BuildOptions options = SmallBuild(folder, "a");
  options.captures.clear();
  REQUIRE(absl::IsInvalidArgument(BuildDataset(options, {}).status()));
  options.captures = {folder.At("nothing")};
  REQUIRE(Says(BuildDataset(options, {}).status(), folder.At("nothing")));
  options = SmallBuild(folder, "a");
  options.captures.push_back(WriteSmallCapture(folder, "elsewhere/lab"));
  REQUIRE(Says(BuildDataset(options, {}).status(), "two captures are called lab"));
  options = SmallBuild(folder, "a");
  options.chunk_tokens = 40;
  REQUIRE(Says(BuildDataset(options, {}).status(), "/redfish/v1: the request line"));
  options = SmallBuild(folder, "a");
  options.tokenizer = folder.At("none.json");
  REQUIRE(Says(BuildDataset(options, {}).status(), "none.json"));
}

}  // namespace shoal::dataset
