// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/appended_file.h"

#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::runtime {
namespace {

// While it lives, files of this process cannot grow beyond `bytes`, so that a longer write is cut
// short and the next one fails.
class Limit {
 public:
  explicit Limit(std::size_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit_) == 0);
    const rlimit smaller = {.rlim_cur = bytes, .rlim_max = limit_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &smaller) == 0);
  }
  ~Limit() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    ::signal(SIGXFSZ, handler_);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  const sighandler_t handler_;
  rlimit limit_ = {};
};

TEST_CASE("lines that could only be written in part leave nothing, and the next ones are whole") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("lines");
  const auto file = AppendedFile::Open(path).value();
  REQUIRE(file->Append("one\n").ok());
  absl::Status appended;
  absl::Status synced;
  std::string between;
  {
    // What a failed test says goes to a file, too.
    const Limit limit(7);
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

TEST_CASE("a full disk is told apart from other failures of files") {
  const auto full = AppendedFile::Open("/dev/full").value();
  REQUIRE(absl::IsResourceExhausted(full->Append("a line\n")));
  REQUIRE(AppendedFile::Open("/nowhere/file").status().code() == absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace shoal::runtime
