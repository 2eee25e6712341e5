// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/embedding_file.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/manual_clock.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/text/embedding/file_rows.h"
#include "text/embedding/sqlite_connection.h"

namespace shoal::embedding {
namespace {

using content::ContentKey;
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
  // A machine that stands still for a while makes insertions fail: each is whole or counted.
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
  REQUIRE_FALSE(std::filesystem::exists(folder.At("vectors.sqlite.damaged")));
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
  REQUIRE_FALSE(std::filesystem::exists(folder.At("vectors.sqlite.damaged")));
  Put(*file, Rows(0, 3));
  REQUIRE(CountFound(*file, Rows(0, 3)) == 3);
}

TEST_CASE("a file locked by another is read, not written, and written again once it is free") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  runtime::Metrics metrics;
  doubles::ManualClock clock;
  const auto file = EmbeddingFile::Open({.path = path}, &metrics, clock).value();
  Put(*file, Rows(0, 10));
  auto other = SqliteConnection::Open(path, 0).value();
  REQUIRE(other.Execute("BEGIN IMMEDIATE").ok());
  Put(*file, Rows(10, 10));
  REQUIRE(file->failures() == 1);
  REQUIRE(CountFound(*file, Rows(0, 20)) == 10);
  REQUIRE(other.Execute("ROLLBACK").ok());
  clock.Advance(std::chrono::seconds(1));
  Put(*file, Rows(10, 10));
  REQUIRE(CountFound(*file, Rows(0, 20)) == 20);
  REQUIRE(file->failures() == 1);
  REQUIRE(metrics
              .Counter("shoal_embedding_file_failures_total",
                       "Reads and writes of the file of vectors that failed")
              .Value() == 1);
}

TEST_CASE("after failed insertions none is tried for 1, 2, 4 and so on up to 30 seconds") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  doubles::ManualClock clock;
  const auto file = OpenAt(path, 1 << 24, clock);
  auto other = SqliteConnection::Open(path, 0).value();
  std::uint64_t failures = 0;
  for (const int seconds : {1, 2, 4, 8, 16, 30, 30}) {
    CAPTURE(seconds);
    REQUIRE(other.Execute("BEGIN IMMEDIATE").ok());
    Put(*file, Rows(0, 1));
    REQUIRE(other.Execute("ROLLBACK").ok());
    clock.Advance(std::chrono::milliseconds(1000 * seconds - 1));
    Put(*file, Rows(0, 1));
    REQUIRE(file->rows() == 0);
    REQUIRE(file->failures() == (failures += 2));
    clock.Advance(std::chrono::milliseconds(1));
  }
  Put(*file, Rows(0, 1));
  REQUIRE(file->rows() == 1);
  REQUIRE(other.Execute("BEGIN IMMEDIATE").ok());
  Put(*file, Rows(1, 1));
  REQUIRE(other.Execute("ROLLBACK").ok());
  clock.Advance(std::chrono::seconds(1));
  Put(*file, Rows(1, 1));
  REQUIRE(file->rows() == 2);
}

TEST_CASE("failures are warned of once a status code") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  doubles::ManualClock clock;
  const auto file = OpenAt(path, 1 << 24, clock);
  std::ostringstream log;
  spdlog::default_logger()->sinks().push_back(
      std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
  {
    auto other = SqliteConnection::Open(path, 0).value();
    for (int i = 0; i < 2; ++i) {
      REQUIRE(other.Execute("BEGIN IMMEDIATE").ok());
      Put(*file, Rows(0, 1));
      REQUIRE(other.Execute("ROLLBACK").ok());
      clock.Advance(std::chrono::minutes(1));
    }
    REQUIRE(other
                .Execute("CREATE TRIGGER t BEFORE INSERT ON embeddings BEGIN "
                         "SELECT RAISE(ABORT, 'not now'); END")
                .ok());
    for (int i = 0; i < 2; ++i) {
      Put(*file, Rows(0, 1));
      clock.Advance(std::chrono::minutes(1));
    }
  }
  spdlog::default_logger()->sinks().pop_back();
  REQUIRE(file->failures() == 4);
  const std::string text = log.str();
  for (const char* reason : {"database is locked", "not now"}) {
    CAPTURE(text, reason);
    REQUIRE(text.find(reason) != std::string::npos);
    REQUIRE(text.find(reason) == text.rfind(reason));
  }
}

TEST_CASE("a file that is locked when it is opened comes into use later") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  auto other = SqliteConnection::Open(path, 0).value();
  REQUIRE(other.Execute("BEGIN EXCLUSIVE").ok());
  doubles::ManualClock clock;
  const auto file = OpenAt(path, 1 << 24, clock);
  REQUIRE(file->failures() == 1);
  REQUIRE(CountFound(*file, Rows(0, 10)) == 0);
  REQUIRE(other.Execute("ROLLBACK").ok());
  clock.Advance(std::chrono::seconds(1));
  Put(*file, Rows(0, 10));
  REQUIRE(CountFound(*file, Rows(0, 10)) == 10);
  REQUIRE_FALSE(std::filesystem::exists(path + ".damaged"));
}

TEST_CASE("where nothing more can be written, what is there is still found") {
  const TemporaryFolder folder;
  const std::string path = folder.At("vectors.sqlite");
  doubles::ManualClock clock;
  const auto file = OpenAt(path, 1 << 24, clock);
  Put(*file, Rows(0, 100));
  rlimit before = {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 64 << 10;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  Put(*file, Rows(100, 2000));
  const std::size_t kept = CountFound(*file, Rows(100, 2000));
  const std::size_t found = CountFound(*file, Rows(0, 100));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  REQUIRE(file->failures() > 0);
  REQUIRE(kept == 0);
  REQUIRE(found == 100);
  clock.Advance(std::chrono::seconds(1));
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
