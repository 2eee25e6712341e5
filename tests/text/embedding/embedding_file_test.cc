// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/embedding_file.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/file_size_limit.h"
#include "tests/doubles/manual_clock.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/text/embedding/file_rows.h"

namespace shoal::embedding {
namespace {

using doubles::TemporaryFolder;

TEST_CASE("what was put is there after reopening, for its version and dimension alone") {
  const TemporaryFolder folder;
  const std::string path = folder.At("new/folders/vectors.sqlite");
  const Rows rows(0, 100);
  Put(*OpenAt(path), rows);
  const auto file = OpenAt(path);
  REQUIRE(CountFound(*file, rows) == 100);
  REQUIRE(CountFound(*file, Rows(100, 50)) == 0);
  REQUIRE(CountFound(*file, Rows(50, 100)) == 50);
  REQUIRE(CountFound(*file, rows, "another") == 0);
  for (const Embedding& embedding : file->Find("v", kDimension + 1, rows.keys)) {
    REQUIRE(embedding == nullptr);
  }
  Rows others = rows;
  std::swap(others.values[0], others.values[1]);
  Put(*file, others);
  REQUIRE(CountFound(*file, rows) == 100);
  REQUIRE(file->rows() == 100);
  REQUIRE(file->failures() == 0);
}

TEST_CASE("two open at once see what the other puts, from several threads") {
  const TemporaryFolder folder;
  doubles::ManualClock clock;
  const auto one = OpenAt(folder.At("vectors.sqlite"), 1 << 24, clock);
  const auto two = OpenAt(folder.At("vectors.sqlite"), 1 << 24, clock);
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&one, &two, thread] {
      EmbeddingFile& file = thread % 2 == 0 ? *one : *two;
      for (std::uint64_t i = 0; i < 10; ++i) {
        const Rows rows(thread * 1000 + i * 10, 10);
        file.Insert("v", kDimension, rows.keys, rows.values);
        file.Find("v", kDimension, rows.keys);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // If the machine stalls, insertions may fail. Each is either complete or counted as a failure.
  const std::uint64_t failures = one->failures() + two->failures();
  std::uint64_t lost = 0;
  for (std::uint64_t group = 0; group < 40; ++group) {
    const Rows rows(group / 10 * 1000 + group % 10 * 10, 10);
    const std::size_t found = CountFound(*one, rows);
    REQUIRE((found == 0 || found == 10));
    REQUIRE(CountFound(*two, rows) == found);
    if (found == 0) ++lost;
  }
  REQUIRE(lost <= failures);
  REQUIRE(lost < 40);
  REQUIRE(one->failures() + two->failures() == failures);
  clock.Advance(std::chrono::minutes(1));
  for (EmbeddingFile* file : {one.get(), two.get()}) {
    for (const std::uint64_t first : {0, 1000, 2000, 3000}) Put(*file, Rows(first, 100));
  }
  for (EmbeddingFile* file : {one.get(), two.get()}) {
    for (const std::uint64_t first : {0, 1000, 2000, 3000}) {
      REQUIRE(CountFound(*file, Rows(first, 100)) == 100);
    }
    REQUIRE(file->rows() == 400);
  }
  Put(*one, Rows(9000, 5));
  REQUIRE(CountFound(*two, Rows(9000, 5)) == 5);
}

TEST_CASE("past the bound the oldest rows leave, and the file stays at its size") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  constexpr std::int64_t kBound = 256 << 10;
  {
    const auto file = OpenAt(path, kBound);
    for (std::uint64_t first = 0; first < 20000; first += 100) Put(*file, Rows(first, 100));
    REQUIRE(CountFound(*file, Rows(19900, 100)) == 100);
    REQUIRE(CountFound(*file, Rows(0, 1000)) == 0);
    REQUIRE(file->rows() > 500);
    REQUIRE(file->failures() == 0);
  }
  REQUIRE(std::filesystem::file_size(path) <= kBound + (64 << 10));
  const auto file = OpenAt(path, 64 << 10);
  REQUIRE(CountFound(*file, Rows(19500, 100)) == 100);
  Put(*file, Rows(30000, 10));
  REQUIRE(CountFound(*file, Rows(30000, 10)) == 10);
  REQUIRE(CountFound(*file, Rows(19900, 100)) == 100);
  REQUIRE(CountFound(*file, Rows(19500, 100)) == 0);
  REQUIRE(file->rows() < 500);
  Put(*file, Rows(40000, 3000));
  REQUIRE(file->rows() < 500);
}

TEST_CASE("a bound far below what is there is reached over several insertions") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  Put(*OpenAt(path), Rows(0, 12000));
  const auto size = std::filesystem::file_size(path);
  const auto file = OpenAt(path, 64 << 10);
  std::vector<std::uint64_t> left = {file->rows()};
  REQUIRE(left[0] == 12000);
  for (std::uint64_t number = 20000; left.back() > 500 && left.size() < 6; ++number) {
    Put(*file, Rows(number, 1));
    left.push_back(file->rows());
    REQUIRE(left.back() + 4096 >= left[left.size() - 2]);
    REQUIRE(CountFound(*file, Rows(number, 1)) == 1);
  }
  REQUIRE(left.size() == 4);
  REQUIRE(left.back() > 50);
  REQUIRE(file->failures() == 0);
  REQUIRE(std::filesystem::file_size(path) >= size);
}

TEST_CASE("an empty file is a new one") {
  const TemporaryFolder folder;
  folder.Write("vectors.sqlite", "");
  const auto file = OpenAt(folder.At("vectors.sqlite"));
  Put(*file, Rows(0, 3));
  REQUIRE(CountFound(*file, Rows(0, 3)) == 3);
}

// Another process that holds the file's lock.
class Locker {
 public:
  explicit Locker(const std::string& path) {
    REQUIRE(sqlite3_open(path.c_str(), &connection_) == SQLITE_OK);
  }
  ~Locker() { sqlite3_close(connection_); }
  void Execute(const char* sql) const {
    REQUIRE(sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  }

 private:
  sqlite3* connection_ = nullptr;
};

TEST_CASE("a file locked by another is read, not written, and written again after a pause") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  runtime::Metrics metrics;
  doubles::ManualClock clock;
  const auto file = EmbeddingFile::Open({.path = path}, &metrics, clock).value();
  Put(*file, Rows(0, 10));
  const Locker other(path);
  other.Execute("BEGIN IMMEDIATE");
  Put(*file, Rows(10, 10));
  REQUIRE(file->failures() == 1);
  REQUIRE(CountFound(*file, Rows(0, 20)) == 10);
  other.Execute("ROLLBACK");
  Put(*file, Rows(10, 10));
  REQUIRE(file->failures() == 2);
  clock.Advance(std::chrono::seconds(10));
  Put(*file, Rows(10, 10));
  REQUIRE(CountFound(*file, Rows(0, 20)) == 20);
  REQUIRE(metrics
              .Counter("shoal_embedding_file_failures_total",
                       "Reads and writes of the file of vectors that failed")
              .Value() == 2);
}

TEST_CASE("a file that is locked when it is opened comes into use later") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  const Locker other(path);
  other.Execute("BEGIN EXCLUSIVE");
  doubles::ManualClock clock;
  const auto file = OpenAt(path, 1 << 24, clock);
  REQUIRE(file->failures() == 1);
  REQUIRE(CountFound(*file, Rows(0, 10)) == 0);
  other.Execute("ROLLBACK");
  clock.Advance(std::chrono::seconds(10));
  Put(*file, Rows(0, 10));
  REQUIRE(CountFound(*file, Rows(0, 10)) == 10);
}

TEST_CASE("a file of something else, or of another format, is used by nobody and stays as it is") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  const auto make = [&](const char* sql) {
    std::filesystem::remove(path);
    Locker(path).Execute(sql);
  };
  const auto check = [&] {
    const std::string before = runtime::ReadFile(path).value();
    const auto file = OpenAt(path);
    Put(*file, Rows(0, 10));
    REQUIRE(CountFound(*file, Rows(0, 10)) == 0);
    REQUIRE(file->failures() == 2);
    REQUIRE(runtime::ReadFile(path).value() == before);
  };
  folder.Write("vectors.sqlite", std::string(200, 'x'));
  check();
  make("CREATE TABLE notes(text)");
  check();
  make("CREATE TABLE notes(text);PRAGMA application_id=1397256033;PRAGMA user_version=9");
  check();
}

TEST_CASE("damage is warned of once, loses vectors, never changes one, and never stops anything") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  const Rows rows(0, 200);
  Put(*OpenAt(path), rows);
  const std::string good = runtime::ReadFile(path).value();
  std::vector<std::string> bad;
  runtime::Random random(7, 7);
  for (std::size_t begin = 0; begin < good.size(); begin += good.size() / 24) {
    bad.push_back(good);
    for (std::size_t i = begin; i < std::min(begin + 40, good.size()); ++i) {
      bad.back()[i] = static_cast<char>(random.Below(256));
    }
  }
  for (const std::size_t size : {std::size_t{100}, std::size_t{4096}, good.size() / 2}) {
    bad.push_back(good.substr(0, size));
  }
  std::ostringstream log;
  spdlog::default_logger()->sinks().push_back(
      std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
  std::size_t broken = 0;
  for (const std::string& bytes : bad) {
    REQUIRE(runtime::WriteFileAtomically(path, bytes).ok());
    log.str("");
    const auto file = OpenAt(path);
    for (int round = 0; round < 3; ++round) {
      CountFound(*file, rows);
      Put(*file, rows);
    }
    const std::string text = log.str();
    const std::size_t warned = text.find("goes_on_without_it");
    REQUIRE((file->failures() > 0) == (warned != std::string::npos));
    REQUIRE(warned == text.rfind("goes_on_without_it"));
    if (warned != std::string::npos) ++broken;
  }
  spdlog::default_logger()->sinks().pop_back();
  REQUIRE(broken > 12);
}

TEST_CASE("where nothing more can be written, what is there is still found") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  doubles::ManualClock clock;
  const auto file = OpenAt(path, 1 << 24, clock);
  Put(*file, Rows(0, 100));
  std::size_t kept = 0;
  std::size_t found = 0;
  {
    const doubles::FileSizeLimit limit(64 << 10);
    Put(*file, Rows(100, 2000));
    kept = CountFound(*file, Rows(100, 2000));
    found = CountFound(*file, Rows(0, 100));
  }
  REQUIRE(file->failures() > 0);
  REQUIRE(kept == 0);
  REQUIRE(found == 100);
  clock.Advance(std::chrono::seconds(10));
  Put(*file, Rows(100, 2000));
  REQUIRE(CountFound(*file, Rows(0, 2100)) == 2100);
}

TEST_CASE("a path that cannot be a file is refused by name") {
  const TemporaryFolder folder;
  folder.Write("plain", "x");
  const auto open = [](const std::string& path, std::int64_t bytes) {
    return EmbeddingFile::Open({.path = path, .max_bytes = bytes}, nullptr).status();
  };
  REQUIRE(absl::IsInvalidArgument(open("", 1 << 20)));
  REQUIRE(absl::IsInvalidArgument(open(folder.At("vectors"), 1000)));
  for (const std::string& path : {folder.path(), folder.At("plain/vectors")}) {
    const absl::Status status = open(path, 1 << 20);
    REQUIRE(absl::IsFailedPrecondition(status));
    REQUIRE(runtime::Message(status).find(folder.path()) != std::string::npos);
  }
}

}  // namespace
}  // namespace shoal::embedding
