// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/pack.h"

#include <archive.h>
#include <archive_entry.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/text/dataset/small_dataset.h"

namespace shoal::dataset {
namespace {

namespace fs = std::filesystem;

using Files = std::vector<redfish::ArchiveFile>;

Files FilesIn(const doubles::TemporaryFolder& folder) {
  BuildSmall(folder, "data");
  Files files;
  for (const std::string_view file : {kManifestFile, kChunksFile, kTokenizerFile}) {
    files.push_back({"d/" + std::string(file), ContentsOf(folder.At("data/" + std::string(file)))});
  }
  return files;
}

absl::StatusOr<std::string> PackSmall(const doubles::TemporaryFolder& folder) {
  return PackDataset(*Dataset::Open(folder.At("data")).value(), "small", {});
}

// Unpacks an archive of `files` into "out", which must fail and leave nothing there.
absl::Status RefusalOf(const doubles::TemporaryFolder& folder, const Files& files) {
  const std::string archive =
      folder.Write("hostile.tar.xz", redfish::PackArchive(files, {}).value());
  const absl::Status status =
      UnpackDataset({.archive = archive, .folder = folder.At("in/out")}).status();
  REQUIRE((!fs::exists(folder.At("in")) || fs::is_empty(folder.At("in"))));
  REQUIRE(Says(status, "hostile.tar.xz"));
  return status;
}

// Writes a tar archive of one symbolic link.
void WriteLink(const std::string& path, const char* name, const char* target) {
  archive* const writer = archive_write_new();
  archive_write_set_format_pax_restricted(writer);
  REQUIRE(archive_write_open_filename(writer, path.c_str()) == ARCHIVE_OK);
  archive_entry* const entry = archive_entry_new();
  archive_entry_set_pathname(entry, name);
  archive_entry_set_filetype(entry, AE_IFLNK);
  archive_entry_set_symlink(entry, target);
  REQUIRE(archive_write_header(writer, entry) == ARCHIVE_OK);
  archive_entry_free(entry);
  archive_write_free(writer);
}

}  // namespace

TEST_CASE("a dataset is packed the same each time, and comes out as it went in") {
  const doubles::TemporaryFolder folder;
  BuildSmall(folder, "data");
  const std::string bytes = PackSmall(folder).value();
  REQUIRE(bytes == PackSmall(folder).value());
  const std::string archive = folder.Write("small.tar.xz", bytes);
  const auto manifest = UnpackDataset({.archive = archive, .folder = folder.At("x/out/")});
  REQUIRE(manifest.ok());
  for (const std::string_view file : {kManifestFile, kChunksFile, kTokenizerFile}) {
    REQUIRE(ContentsOf(folder.At("data/" + std::string(file))) ==
            ContentsOf(folder.At("x/out/" + std::string(file))));
  }
  REQUIRE(absl::IsAlreadyExists(
      UnpackDataset({.archive = archive, .folder = folder.At("x/out")}).status()));
}

TEST_CASE("a dataset that is damaged is not packed") {
  const doubles::TemporaryFolder folder;
  BuildSmall(folder, "data");
  std::string bytes = ContentsOf(folder.At("data/tokenizer.json"));
  bytes.back() = ' ';
  folder.Write("data/tokenizer.json", bytes);
  REQUIRE(absl::IsDataLoss(PackSmall(folder).status()));
}

TEST_CASE("no name in an archive becomes a path") {
  const doubles::TemporaryFolder folder;
  const Files whole = FilesIn(folder);
  for (const char* name : {"../../escaped", "/tmp/escaped", "d/other", "d/../../manifest.json",
                           "elsewhere/manifest.json"}) {
    Files files = whole;
    files.push_back({name, "x"});
    const absl::Status status = RefusalOf(folder, files);
    REQUIRE(absl::IsDataLoss(status));
    REQUIRE(Says(status, "is no part of one dataset"));
  }
  WriteLink(folder.At("link.tar"), "d/chunks.bin", "/etc/passwd");
  REQUIRE(Says(UnpackDataset({.archive = folder.At("link.tar"), .folder = folder.At("o")}).status(),
               "link.tar has no file chunks.bin"));
}

TEST_CASE("an archive that lacks a file, or has one damaged, leaves nothing behind") {
  const doubles::TemporaryFolder folder;
  const Files whole = FilesIn(folder);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Files files = whole;
    files.erase(files.begin() + static_cast<std::ptrdiff_t>(i));
    REQUIRE(Says(RefusalOf(folder, files), "has no file"));
    files = whole;
    std::string& bytes = files[i].bytes;
    bytes[bytes.size() / 2 / 4 * 4] = static_cast<char>(bytes[bytes.size() / 2 / 4 * 4] ^ 1);
    REQUIRE_FALSE(RefusalOf(folder, files).ok());
  }
}

TEST_CASE("an archive that is cut, too large, missing or no archive is named") {
  const doubles::TemporaryFolder folder;
  BuildSmall(folder, "data");
  const std::string bytes = PackSmall(folder).value();
  const std::string archive = folder.Write("small.tar.xz", bytes);
  const auto refusal = [&](const std::string& path, std::size_t max_bytes) {
    return UnpackDataset({.archive = path, .folder = folder.At("o"), .max_bytes = max_bytes})
        .status();
  };
  const std::size_t most = redfish::kMaximumUnpackedBytes;
  REQUIRE(Says(refusal(archive, 1000), "small.tar.xz unpacks to more than 1000 bytes"));
  // Zeros fill the last block, so only a cut before them loses something.
  const std::string cut =
      folder.Write("cut.tar.xz", bytes.substr(0, bytes.find_last_not_of('\0') / 2));
  REQUIRE(absl::IsDataLoss(refusal(cut, most)));
  REQUIRE(absl::IsDataLoss(refusal(folder.Write("text.tar.xz", "no archive"), most)));
  REQUIRE(absl::IsNotFound(refusal(folder.At("none.tar.xz"), most)));
  REQUIRE(absl::IsInvalidArgument(refusal(folder.path(), most)));
}

}  // namespace shoal::dataset
