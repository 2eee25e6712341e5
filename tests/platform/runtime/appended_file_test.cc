// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/appended_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/file_size_limit.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::runtime {
namespace {

TEST_CASE("lines that could only be written in part leave nothing, and the next ones are whole") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("lines");
  const auto file = AppendedFile::Open(path).value();
  REQUIRE(file->Append("one\n").ok());
  absl::Status appended;
  absl::Status synced;
  std::string between;
  {
    const doubles::FileSizeLimit limit(7);
    appended = file->Append("two is longer\n");
    between = ReadFile(path).value_or("");
    synced = file->AppendSynced("two is longer\n");
  }
  REQUIRE_FALSE(appended.ok());
  REQUIRE(between == "one\n");
  REQUIRE_FALSE(synced.ok());
  REQUIRE(ReadFile(path).value() == "one\n");
  REQUIRE(file->AppendSynced("three\nfour\n").ok());
  REQUIRE(ReadFile(path).value() == "one\nthree\nfour\n");
}

TEST_CASE("a last line that a crash tore is cut off, however long it and the file are") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("lines");
  const std::size_t before = GENERATE(0, 1, 65'535, 65'536, 200'000);
  const std::size_t torn = GENERATE(0, 1, 65'536, 150'000);
  const std::string whole = before == 0 ? "" : std::string(before - 1, 'a') + "\n";
  std::ofstream(path) << whole << std::string(torn, 'b');
  REQUIRE(AppendedFile::Open(path).value()->Append("next\n").ok());
  REQUIRE(ReadFile(path).value() == whole + "next\n");
}

TEST_CASE("one process alone opens a file so, and its torn line stays while that one writes it") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("new/lines");
  auto file = AppendedFile::OpenAlone(path, 0600).value();
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  REQUIRE((info.st_mode & 0777) == 0600);
  REQUIRE(file->Append("one\n").ok());
  std::ofstream(path, std::ios::app) << "tw";
  const absl::Status second = AppendedFile::OpenAlone(path, 0600).status();
  REQUIRE(absl::IsFailedPrecondition(second));
  REQUIRE(Message(second).find(path) != std::string::npos);
  REQUIRE(ReadFile(path).value() == "one\ntw");
  file.reset();
  REQUIRE(AppendedFile::OpenAlone(path, 0600).value()->size() == 4);
  REQUIRE(ReadFile(path).value() == "one\n");
}

TEST_CASE("lines are cut off behind one that is damaged, and read where they stand") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("lines");
  const auto file = AppendedFile::Open(path).value();
  REQUIRE(file->Append("one\ndamaged\nthree\n").ok());
  REQUIRE(file->CutTo(4).ok());
  REQUIRE(file->Append("two\n").ok());
  REQUIRE(file->Sync().ok());
  std::string buffer(6, ' ');
  REQUIRE(file->Read(4, buffer).value() == 4);
  REQUIRE(buffer == "two\n  ");
  REQUIRE(file->Read(file->size(), buffer).value() == 0);
  REQUIRE(file->CutTo(0).ok());
  REQUIRE(ReadFile(path).value().empty());
}

TEST_CASE("a full disk is told apart from other failures of files") {
  const auto full = AppendedFile::Open("/dev/full").value();
  REQUIRE(absl::IsResourceExhausted(full->Append("a line\n")));
  REQUIRE(AppendedFile::Open("/nowhere/file").status().code() == absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace shoal::runtime
