// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/dataset.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/text/dataset/small_dataset.h"

namespace shoal::dataset {
namespace {

namespace fs = std::filesystem;

// Changes one byte of a file, but not its size.
void Damage(const std::string& path, std::size_t offset) {
  std::string bytes = ContentsOf(path);
  bytes.at(offset) = static_cast<char>(bytes[offset] ^ 1);
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("a dataset that was built is opened, verified and read") {
  const doubles::TemporaryFolder folder;
  const Manifest built = BuildSmall(folder, "data");
  const auto dataset = Dataset::Open(folder.At("data"));
  REQUIRE(dataset.ok());
  REQUIRE((*dataset)->Verify().ok());
  REQUIRE((*dataset)->manifest().ToJson() == built.ToJson());
  REQUIRE((*dataset)->size() == static_cast<std::size_t>(built.chunks));
  const auto tokenizer = tokens::LoadTokenizer((*dataset)->folder()).value();
  const std::string text = tokenizer->Decode((*dataset)->tokens(0)).value();
  REQUIRE(text.starts_with("GET /redfish/v1 [GET]\n{\"@odata.id\":\"/redfish/v1\",\"Name\""));
  REQUIRE((*dataset)->capture(0) == "lab");
  REQUIRE((*dataset)->spans(0).front().kind == SpanKind::kResponse);
  REQUIRE((*dataset)->spans(0).front().begin == 22);
}

TEST_CASE("an open dataset stays what it was when it is built anew") {
  const doubles::TemporaryFolder folder;
  BuildSmall(folder, "data");
  const auto dataset = Dataset::Open(folder.At("data")).value();
  const std::vector<std::int32_t> before(dataset->tokens(0).begin(), dataset->tokens(0).end());
  BuildOptions options = SmallBuild(folder, "data");
  options.prompt = false;
  REQUIRE(BuildDataset(options, {}).ok());
  REQUIRE(std::equal(before.begin(), before.end(), dataset->tokens(0).begin()));
}

TEST_CASE("a dataset without one of its files is not opened") {
  for (const std::string_view file : {kManifestFile, kChunksFile, kTokenizerFile}) {
    const doubles::TemporaryFolder folder;
    BuildSmall(folder, "data");
    fs::remove(folder.At("data/" + std::string(file)));
    const absl::Status status = Dataset::Open(folder.At("data")).status();
    REQUIRE(absl::IsNotFound(status));
    REQUIRE(Says(status, std::string(file)));
  }
}

TEST_CASE("a file of another size is not opened, a changed one is not verified") {
  for (const std::string_view file : {kChunksFile, kTokenizerFile}) {
    const doubles::TemporaryFolder folder;
    BuildSmall(folder, "data");
    const std::string path = folder.At("data/" + std::string(file));
    const std::string whole = ContentsOf(path);
    folder.Write("data/" + std::string(file), whole + "x");
    REQUIRE(Says(Dataset::Open(folder.At("data")).status(), path + " has"));
    folder.Write("data/" + std::string(file), whole);
    // This changes a token's lowest bit, or a byte of a tokenizer.
    Damage(path, file == kChunksFile ? whole.size() / 2 / 4 * 4 : whole.size() / 2);
    const auto dataset = Dataset::Open(folder.At("data"));
    const absl::Status status = dataset.ok() ? (*dataset)->Verify() : dataset.status();
    REQUIRE(absl::IsDataLoss(status));
    REQUIRE(Says(status, path));
  }
}

TEST_CASE("a damaged index of chunks is named by file and byte") {
  const doubles::TemporaryFolder folder;
  BuildSmall(folder, "data");
  Damage(folder.At("data/chunks.bin"), 0);
  REQUIRE(Says(Dataset::Open(folder.At("data")).status(), "chunks.bin: byte 0: "));
}

}  // namespace shoal::dataset
