// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/unroll_ledger.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "learner/epoch_file.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/clock.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::learner {
namespace {

std::unique_ptr<UnrollLedger> Open(const std::string& folder, int rank = 0,
                                   std::size_t window = 100) {
  auto ledger = UnrollLedger::Create({.folder = folder, .rank = rank, .window = window});
  REQUIRE(ledger.ok());
  return *std::move(ledger);
}

void AppendText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}

TEST_CASE("an id that was logged is known, also after a restart", "[ledger]") {
  const doubles::TemporaryFolder folder;
  const UnrollUse key{{3, 1700000000000000000U, 40}, 2};
  {
    const auto ledger = Open(folder.path());
    REQUIRE_FALSE(ledger->Contains(key));
    REQUIRE(ledger->Append(2, 7, std::vector{key, UnrollUse{{4, 1, 0}}}).ok());
    REQUIRE(ledger->Contains(key));
  }
  REQUIRE(Open(folder.path())->Contains(key));
  REQUIRE(*runtime::ReadFile(folder.path() + "/unrolls.log") ==
          "3 1700000000000000000 40 2 7 2\n4 1 0 2 7 1\n");
}

TEST_CASE("a last line that a crash tore is cut off and the log goes on", "[ledger]") {
  const doubles::TemporaryFolder folder;
  REQUIRE(Open(folder.path())->Append(1, 1, std::vector{UnrollUse{{1, 2, 3}}}).ok());
  AppendText(folder.path() + "/unrolls.log", "5 6 7 1");
  {
    const auto ledger = Open(folder.path());
    REQUIRE(ledger->size() == 1);
    REQUIRE(ledger->Append(2, 2, std::vector{UnrollUse{{5, 6, 7}}}).ok());
  }
  const auto ledger = Open(folder.path());
  REQUIRE(ledger->size() == 2);
  REQUIRE(ledger->Contains({{5, 6, 7}}));
}

TEST_CASE("a whole line that is malformed is an error that names it", "[ledger]") {
  for (const char* line : {"1 2 3 4\n", "1 2 3 4 x\n", "\n", "1 2 3 4 5 6 7\n", "1 2 3 4 5 0\n",
                           "1 2 3 4 5 \n", "1 2 3 4 5 4294967296\n", "-1 2 3 4 5\n"}) {
    const doubles::TemporaryFolder folder;
    AppendText(folder.path() + "/unrolls.log", std::string("1 2 3 4 5\n") + line);
    const auto ledger = UnrollLedger::Create({.folder = folder.path()});
    REQUIRE(absl::IsDataLoss(ledger.status()));
    REQUIRE(std::string(ledger.status().message()).find("unrolls.log line 2") != std::string::npos);
  }
}

TEST_CASE("each use of an unroll is known by itself, and a line of five numbers is the first",
          "[ledger]") {
  const doubles::TemporaryFolder folder;
  AppendText(folder.path() + "/unrolls.log", "1 2 3 4 5\n6 7 8 9 10 3\n");
  const auto ledger = Open(folder.path());
  REQUIRE(ledger->Contains({{1, 2, 3}, 1}));
  REQUIRE_FALSE(ledger->Contains({{1, 2, 3}, 2}));
  REQUIRE(ledger->Contains({{6, 7, 8}, 3}));
  REQUIRE_FALSE(ledger->Contains({{6, 7, 8}, 1}));
}

TEST_CASE("each rank knows what the others logged before it started", "[ledger]") {
  const doubles::TemporaryFolder folder;
  REQUIRE(Open(folder.path(), 0)->Append(1, 1, std::vector{UnrollUse{{1, 1, 1}}}).ok());
  REQUIRE(Open(folder.path(), 1)->Append(1, 1, std::vector{UnrollUse{{2, 2, 2}}}).ok());
  REQUIRE(Open(folder.path(), 0)->Contains({{2, 2, 2}}));
  REQUIRE(Open(folder.path(), 1)->Contains({{1, 1, 1}}));
}

TEST_CASE("the oldest ids leave memory past the window and stay on disk", "[ledger]") {
  const doubles::TemporaryFolder folder;
  const auto ledger = Open(folder.path(), 0, 2);
  const std::vector<UnrollUse> keys = {{{1, 0, 0}}, {{2, 0, 0}}, {{3, 0, 0}}};
  REQUIRE(ledger->Append(1, 1, keys).ok());
  REQUIRE_FALSE(ledger->Contains(keys[0]));
  REQUIRE(ledger->Contains(keys[2]));
  REQUIRE(Open(folder.path())->Contains(keys[0]));
}

TEST_CASE("a folder without an epoch has epoch 0, and then the one that was written", "[epoch]") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.path() + "/run/epoch";
  REQUIRE(*ReadEpoch(path) == 0);
  REQUIRE(WriteEpoch(path, 7).ok());
  REQUIRE(*ReadEpoch(path) == 7);
}

TEST_CASE("a run begins with the milliseconds of the clock, and in lock step with epoch 1") {
  const std::uint64_t before = runtime::SystemClock().UnixNanos() / 1'000'000;
  const std::uint64_t first = FirstEpoch(false, runtime::SystemClock());
  REQUIRE(first >= before);
  REQUIRE(first <= runtime::SystemClock().UnixNanos() / 1'000'000);
  REQUIRE(FirstEpoch(true, runtime::SystemClock()) == 1);
}

TEST_CASE("an epoch file that holds no number is an error, never epoch one", "[epoch]") {
  for (const char* text : {"", "x", "-3", "7 8", "18446744073709551615"}) {
    const doubles::TemporaryFolder folder;
    AppendText(folder.path() + "/epoch", text);
    REQUIRE(absl::IsDataLoss(ReadEpoch(folder.path() + "/epoch").status()));
  }
}

}  // namespace
}  // namespace shoal::learner
