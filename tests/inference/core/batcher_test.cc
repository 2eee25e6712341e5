// SPDX-License-Identifier: Apache-2.0
#include "inference/core/batcher.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "platform/runtime/thread.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/manual_clock.h"
#include "tests/inference/core/row_maker.h"

namespace shoal::inference {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::MakeRows;

struct BatcherFixture {
  explicit BatcherFixture(const BatcherOptions& options) : batcher(options, clock) {
    batcher.SetPaused(false);
  }
  void Add(std::size_t count) {
    std::vector<Row> rows = MakeRows(std::vector<testing::RowSpec>(count));
    batcher.Add(rows);
    left = rows.size();
  }
  doubles::ManualClock clock;
  Batcher batcher;
  std::size_t left = 0;
};

TEST_CASE("A full batch goes at once") {
  BatcherFixture fixture({.max_rows = 4, .max_delay = std::chrono::hours(1)});
  fixture.Add(6);
  REQUIRE(fixture.batcher.Take().rows.size() == 4);
  REQUIRE(fixture.batcher.size() == 2);
}

TEST_CASE("A batch goes when its oldest row has waited, and not before") {
  BatcherFixture fixture({.max_rows = 100, .max_delay = milliseconds(5)});
  fixture.Add(1);
  fixture.clock.Advance(milliseconds(4));
  fixture.Add(1);
  fixture.batcher.Wake();
  const Batcher::Batch early = fixture.batcher.Take();
  REQUIRE(early.woken);
  REQUIRE(early.rows.empty());
  fixture.clock.Advance(milliseconds(1));
  REQUIRE(fixture.batcher.Take().rows.size() == 2);
}

TEST_CASE("A waiting Take sees the clock move") {
  BatcherFixture fixture({.max_rows = 100, .max_delay = milliseconds(5)});
  fixture.Add(3);
  std::atomic<bool> taken = false;
  std::size_t rows = 0;
  runtime::Thread taker("taker", [&] {
    rows = fixture.batcher.Take().rows.size();
    taken = true;
  });
  // Take has looked at the clock and waits for the delay to pass.
  const bool waits = doubles::Eventually([&] { return taken || fixture.clock.waits() > 0; });
  const bool early = taken;
  fixture.clock.Advance(milliseconds(5));
  taker.Join();
  REQUIRE(waits);
  REQUIRE_FALSE(early);
  REQUIRE(rows == 3);
}

TEST_CASE("Rows whose time ran out come apart from the others") {
  BatcherFixture fixture({.max_rows = 2, .max_delay = milliseconds(1)});
  std::vector<Row> rows = MakeRows({{.environment = 1}});
  rows[0].block->deadline = fixture.clock.Now() + microseconds(10);
  fixture.batcher.Add(rows);
  fixture.Add(1);
  fixture.clock.Advance(milliseconds(1));
  const Batcher::Batch batch = fixture.batcher.Take();
  REQUIRE(batch.expired.size() == 1);
  REQUIRE(batch.expired[0].environment() == 1);
  REQUIRE(batch.rows.size() == 1);
}

TEST_CASE("What does not fit stays with the caller and is counted") {
  BatcherFixture fixture({.max_rows = 2, .max_queued = 3});
  fixture.Add(5);
  REQUIRE(fixture.left == 2);
  REQUIRE(fixture.batcher.size() == 3);
  REQUIRE(fixture.batcher.rejected_total() == 2);
}

TEST_CASE("A paused batcher gives nothing until it is resumed") {
  BatcherFixture fixture({.max_rows = 1});
  fixture.batcher.SetPaused(true);
  fixture.Add(2);
  fixture.batcher.Wake();
  REQUIRE(fixture.batcher.Take().rows.empty());
  fixture.batcher.SetPaused(false);
  REQUIRE(fixture.batcher.Take().rows.size() == 1);
}

TEST_CASE("Draining finishes what waits; closing drops it") {
  BatcherFixture drained({.max_rows = 2, .max_delay = std::chrono::hours(1)});
  drained.Add(3);
  drained.batcher.Drain();
  REQUIRE(drained.batcher.Take().rows.size() == 2);
  REQUIRE(drained.batcher.Take().rows.size() == 1);
  REQUIRE(drained.batcher.Take().ended);
  drained.Add(1);
  REQUIRE(drained.left == 1);

  BatcherFixture closed({.max_rows = 2});
  closed.Add(3);
  closed.batcher.Close();
  REQUIRE(closed.batcher.Take().ended);
}

TEST_CASE("Every row added by several threads leaves once") {
  Batcher batcher({.max_rows = 16, .max_delay = microseconds(50), .max_queued = 1 << 20});
  batcher.SetPaused(false);
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kRows = 500;
  std::vector<runtime::Thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back("adder", [&batcher, thread] {
      for (std::size_t i = 0; i < kRows; ++i) {
        std::vector<Row> rows = MakeRows({{.environment = thread, .sequence = i}});
        batcher.Add(rows);
      }
    });
  }
  std::vector<std::vector<std::uint64_t>> seen(kThreads);
  std::size_t count = 0;
  while (count < kThreads * kRows) {
    const Batcher::Batch batch = batcher.Take();
    REQUIRE(batch.rows.size() <= 16);
    count += batch.rows.size();
    for (const Row& row : batch.rows) seen[row.environment()].push_back(row.sequence());
  }
  for (runtime::Thread& thread : threads) thread.Join();
  for (const auto& sequences : seen) {
    REQUIRE(sequences.size() == kRows);
    REQUIRE(std::is_sorted(sequences.begin(), sequences.end()));
  }
}

}  // namespace
}  // namespace shoal::inference
