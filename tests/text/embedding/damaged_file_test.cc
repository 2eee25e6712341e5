// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/damaged_file.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/manual_clock.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/text/embedding/file_rows.h"
#include "text/embedding/file_lock.h"
#include "text/embedding/sqlite_connection.h"

namespace shoal::embedding {
namespace {

using content::ContentKey;
using doubles::TemporaryFolder;

// The file is moved aside, and the new one works.
void RequireBegunAnew(const std::string& path, const std::string& moved_bytes) {
  const auto file = OpenAt(path);
  REQUIRE(runtime::ReadFile(path + ".damaged").value() == moved_bytes);
  Put(*file, Rows(0, 10));
  REQUIRE(CountFound(*file, Rows(0, 10)) == 10);
  REQUIRE(CountFound(*OpenAt(path), Rows(0, 10)) == 10);
}

TEST_CASE("a file of something else or of a later format is refused by name and stays as it is") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  const auto execute = [&path](const std::string& sql) {
    REQUIRE(SqliteConnection::Open(path, 0)->Execute(sql).ok());
  };
  SECTION("a text") { folder.Write("vectors.sqlite", std::string(5000, 'x') + "no database"); }
  SECTION("a text of one byte") { folder.Write("vectors.sqlite", "x"); }
  SECTION("the beginning of a database") { folder.Write("vectors.sqlite", "SQLite format 3"); }
  SECTION("a database without an application") {
    execute("CREATE TABLE mine(x); INSERT INTO mine VALUES(1)");
  }
  SECTION("a database of another application") {
    execute("PRAGMA application_id=7; PRAGMA user_version=1; CREATE TABLE embeddings(x)");
  }
  SECTION("another's with a log") { execute("PRAGMA journal_mode=WAL; CREATE TABLE mine(x)"); }
  SECTION("a later format") {
    OpenAt(path).reset();
    std::filesystem::remove(path + ".lock");
    execute("PRAGMA user_version=2");
  }
  const std::string bytes = runtime::ReadFile(path).value();
  const absl::Status status = EmbeddingFile::Open({.path = path}, nullptr).status();
  REQUIRE(absl::IsFailedPrecondition(status));
  REQUIRE(runtime::Message(status).find(path) != std::string::npos);
  REQUIRE(runtime::Message(status).find("it stays as it is") != std::string::npos);
  REQUIRE(runtime::ReadFile(path).value() == bytes);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    REQUIRE(entry.path() == path);
  }
}

TEST_CASE("ours of an older format, or without its tables, is moved aside whole") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  OpenAt(path).reset();
  const char* sql = GENERATE("PRAGMA user_version=0", "DROP TABLE embeddings");
  REQUIRE(SqliteConnection::Open(path, 0)->Execute(sql).ok());
  RequireBegunAnew(path, runtime::ReadFile(path).value());
}

TEST_CASE("the last four that were damaged are kept") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  const std::string places[] = {".damaged", ".damaged.2", ".damaged.3", ".damaged.4"};
  std::vector<std::string> bytes;
  for (std::uint64_t i = 0; i < 6; ++i) {
    Put(*OpenAt(path), Rows(i, 1));
    REQUIRE(SqliteConnection::Open(path, 0)->Execute("PRAGMA user_version=0").ok());
    bytes.push_back(runtime::ReadFile(path).value());
    OpenAt(path).reset();
    std::filesystem::last_write_time(
        path + places[i % 4],
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(100 - i));
  }
  for (const std::size_t i : {2, 3, 4, 5}) {
    REQUIRE(runtime::ReadFile(path + places[i % 4]).value() == bytes[i]);
  }
  REQUIRE_FALSE(std::filesystem::exists(path + ".damaged.5"));
}

// Bytes amid the file, and not a new file: whoever has it open has these.
void Damage(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto size = std::filesystem::file_size(path);
  REQUIRE(size > 20000);
  file.seekp(static_cast<std::streamoff>(size / 2));
  file << std::string(size / 4, '\x5a');
  REQUIRE(file.good());
}

TEST_CASE("of two that are open, one moves a damaged file aside, and both go on with the new one") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  const Rows old(0, 500);
  Put(*OpenAt(path), old);
  const auto one = OpenAt(path);
  const auto two = OpenAt(path);
  Damage(path);
  const std::string damaged = runtime::ReadFile(path).value();
  CountFound(*one, old);
  REQUIRE(one->failures() == 1);
  REQUIRE(runtime::ReadFile(path + ".damaged").value() == damaged);
  REQUIRE(one->rows() == 0);
  SECTION("the other inserts") {
    Put(*two, Rows(1000, 10));
    REQUIRE(two->failures() == 0);
  }
  SECTION("the other comes upon the damage") {
    CountFound(*two, old);
    REQUIRE(two->failures() == 1);
    Put(*two, Rows(1000, 10));
  }
  REQUIRE(CountFound(*one, Rows(1000, 10)) == 10);
  Put(*one, Rows(2000, 10));
  REQUIRE(CountFound(*two, Rows(2000, 10)) == 10);
  REQUIRE(runtime::ReadFile(path + ".damaged").value() == damaged);
  REQUIRE_FALSE(std::filesystem::exists(path + ".damaged.2"));
}

TEST_CASE("a file that somebody removes or replaces is left for the one that the path leads to") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  doubles::ManualClock clock;
  const auto file = OpenAt(path, 1 << 24, clock);
  Put(*file, Rows(0, 10));
  std::filesystem::remove(path);
  SECTION("removed") {
    Put(*file, Rows(10, 10));
    REQUIRE(file->failures() == 0);
    REQUIRE(CountFound(*OpenAt(path), Rows(0, 20)) == 10);
  }
  SECTION("replaced by something else's") {
    folder.Write("vectors.sqlite", "my notes");
    Put(*file, Rows(10, 10));
    REQUIRE(file->failures() == 1);
    REQUIRE(CountFound(*file, Rows(0, 20)) == 0);
    REQUIRE(runtime::ReadFile(path).value() == "my notes");
    REQUIRE_FALSE(std::filesystem::exists(path + ".damaged"));
  }
}

TEST_CASE("while another process moves files, a damaged one stays where it is") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  Put(*OpenAt(path), Rows(0, 500));
  doubles::ManualClock clock;
  const auto file = OpenAt(path, 1 << 24, clock);
  Damage(path);
  {
    const auto lock = FileLock::TryShared(path + ".lock");
    REQUIRE(lock.ok());
    REQUIRE(absl::IsUnavailable(FileLock::TryExclusive(path + ".lock").status()));
    CountFound(*file, Rows(0, 500));
    Put(*file, Rows(1000, 10));
    REQUIRE(file->failures() == 2);
    REQUIRE_FALSE(std::filesystem::exists(path + ".damaged"));
  }
  clock.Advance(std::chrono::seconds(1));
  CountFound(*file, Rows(0, 500));
  Put(*file, Rows(1000, 10));
  CountFound(*file, Rows(0, 500));
  Put(*file, Rows(1000, 10));
  REQUIRE(CountFound(*file, Rows(1000, 10)) == 10);
  REQUIRE(std::filesystem::exists(path + ".damaged"));
}

TEST_CASE("bytes changed beyond the header lose vectors, never change one, and the file heals") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  const Rows rows(0, 200);
  Put(*OpenAt(path), rows);
  const std::string good = runtime::ReadFile(path).value();
  REQUIRE_FALSE(std::filesystem::exists(path + "-wal"));
  runtime::Random random(7, 7);
  std::size_t healed = 0;
  for (std::size_t begin = 0; begin < good.size(); begin += good.size() / 24) {
    CAPTURE(begin);
    std::string bad = good;
    for (std::size_t i = begin; i < std::min(begin + 40, bad.size()); ++i) {
      bad[i] = static_cast<char>(random.Below(256));
    }
    REQUIRE(runtime::WriteFileAtomically(path, bad).ok());
    std::filesystem::remove(path + ".damaged");
    if (begin == 0) {
      REQUIRE(absl::IsFailedPrecondition(EmbeddingFile::Open({.path = path}, nullptr).status()));
      REQUIRE(runtime::ReadFile(path).value() == bad);
      continue;
    }
    const auto file = OpenAt(path);
    for (const ContentKey& key : rows.keys) {
      const auto found = file->Find("v", kDimension, std::span(&key, 1));
      const auto row = static_cast<std::size_t>(&key - rows.keys.data());
      if (found[0] != nullptr) REQUIRE(rows.Holds(row, found[0]));
    }
    for (int round = 0; round < 2; ++round) Put(*file, rows);
    if (std::filesystem::exists(path + ".damaged")) {
      ++healed;
      REQUIRE(CountFound(*file, rows) == rows.keys.size());
    }
  }
  REQUIRE(healed > 12);
}

TEST_CASE("a file cut short is moved aside") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  const Rows rows(0, 200);
  Put(*OpenAt(path), rows);
  const std::string good = runtime::ReadFile(path).value();
  for (const std::size_t size :
       {std::size_t{100}, std::size_t{200}, std::size_t{4096}, good.size() / 2, good.size() - 1}) {
    CAPTURE(size);
    REQUIRE(runtime::WriteFileAtomically(path, good.substr(0, size)).ok());
    std::filesystem::remove(path + ".damaged");
    const auto file = OpenAt(path);
    CountFound(*file, rows);
    Put(*file, rows);
    Put(*file, rows);
    REQUIRE(CountFound(*file, rows) == rows.keys.size());
    REQUIRE(std::filesystem::exists(path + ".damaged"));
  }
}

}  // namespace
}  // namespace shoal::embedding
