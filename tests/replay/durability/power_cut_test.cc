// SPDX-License-Identifier: Apache-2.0
// A durable table under load whose disk loses its power at random moments, and with it all that was
// not synced. The proof `./test --bars replay-kills` cuts the power more often.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "platform/runtime/thread.h"
#include "replay/shard.h"
#include "tests/doubles/environment_number.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/replay/durability/durable_shard.h"
#include "tests/replay/durability/lossy_env.h"

namespace shoal::replay::durability {
namespace {

using doubles::Eventually;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kMessageItems = 4;

// An insert that the shard took.
struct Taken {
  std::uint64_t number = 0;
  Steady::time_point before;
  Steady::time_point after;
};

// Inserts items without end while the shard takes them.
class Inserting {
 public:
  Inserting(Shard& shard, std::uint64_t first)
      : shard_(shard), next_(first), thread_("inserting", [this] { Run(); }) {}
  ~Inserting() { Stop(); }

  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.Join();
  }
  std::uint64_t taken_count() const { return taken_count_; }
  // The number of the last item that was acknowledged, or 0.
  std::uint64_t acknowledged() const { return acknowledged_; }
  // REQUIRES: stopped.
  const std::vector<Taken>& taken() const { return taken_; }
  std::uint64_t next() const { return next_; }

 private:
  void Run() {
    std::deque<std::pair<std::uint64_t, std::uint64_t>> waiting;
    std::uint64_t seen = 0;
    while (!stop_) {
      const Steady::time_point before = Steady::now();
      const absl::Status status = Insert(shard_, next_);
      if (status.ok()) {
        waiting.emplace_back(shard_.AcknowledgedAt("unrolls"), next_);
        taken_.push_back({.number = next_++, .before = before, .after = Steady::now()});
        ++taken_count_;
      } else {
        seen = shard_.AwaitChange(seen, std::chrono::milliseconds(1));
      }
      const std::uint64_t durable = shard_.durable();
      while (!waiting.empty() && waiting.front().first <= durable) {
        acknowledged_ = waiting.front().second;
        waiting.pop_front();
      }
    }
  }

  Shard& shard_;
  std::uint64_t next_;
  std::vector<Taken> taken_;
  // Read by other threads while the thread runs.
  std::atomic<std::uint64_t> taken_count_ = 0;
  std::atomic<std::uint64_t> acknowledged_ = 0;
  std::atomic<bool> stop_ = false;
  runtime::Thread thread_;
};

// Samples without end, and has an item once its use is on disk.
class Sampling {
 public:
  explicit Sampling(Shard& shard)
      : shard_(shard), reader_(*shard.OpenReader()), thread_("sampling", [this] { Run(); }) {}
  ~Sampling() { Stop(); }

  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.Join();
  }
  // The number of the last item that was given out, or 0.
  std::uint64_t given() const { return given_; }

 private:
  void Run() {
    std::uint64_t seen = 0;
    while (!stop_) {
      const SampleBatch batch = shard_.Sample("unrolls", reader_, kMessageItems, 1 << 20);
      while (!stop_ && (batch.samples.empty() || shard_.durable() < batch.durable_at)) {
        seen = shard_.AwaitChange(seen, std::chrono::milliseconds(1));
        if (batch.samples.empty()) break;
      }
      const bool gives = !batch.samples.empty() && shard_.durable() >= batch.durable_at;
      if (gives) given_ = batch.samples.back().item->id.environment_id;
    }
  }

  Shard& shard_;
  const int reader_;
  // Read by other threads while the thread runs.
  std::atomic<std::uint64_t> given_ = 0;
  std::atomic<bool> stop_ = false;
  runtime::Thread thread_;
};

int PowerCuts() { return doubles::EnvironmentNumber("SHOAL_REPLAY_KILLS", 10); }

// Requires that the items follow each other without a gap.
void RequireRow(const std::vector<std::uint64_t>& numbers) {
  for (std::size_t i = 1; i < numbers.size(); ++i) REQUIRE(numbers[i] == numbers[i - 1] + 1);
}

TEST_CASE("a table that writes batches loses what came within one window when the power goes",
          "[power_cuts]") {
  const doubles::TemporaryFolder folder;
  LossyEnv env;
  std::mt19937_64 random(1);
  const TableOptions table{.max_size = 1000000,
                           .max_times_sampled = 1,
                           .durability = Durability::kBatch,
                           .batch_window = std::chrono::milliseconds(50)};
  std::uint64_t next = 1;
  auto shard = MustOpen(folder.path(), {table}, &env);
  std::uint64_t lost_count = 0;
  for (int cut = 0; cut < PowerCuts(); ++cut) {
    INFO("cut " << cut);
    AwaitDurable(*shard);
    const std::uint64_t first = next;
    Inserting inserting(*shard, first);
    const std::uint64_t enough = 1 + random() % 20000;
    REQUIRE(Eventually([&] { return inserting.taken_count() >= enough; }));
    env.Die();
    inserting.Stop();
    next = inserting.next();
    shard.reset();
    env.Revive();

    shard = MustOpen(folder.path(), {table}, &env);
    const std::vector<std::uint64_t> left = Drain(*shard);
    RequireRow(left);
    if (!left.empty()) REQUIRE(left.front() == first);
    const std::vector<Taken>& taken = inserting.taken();
    REQUIRE(left.size() <= taken.size());
    if (left.size() == taken.size()) continue;
    lost_count += taken.size() - left.size();
    REQUIRE(taken.back().before - taken[left.size()].after <= table.batch_window);
  }
  // Otherwise the cuts have shown nothing.
  REQUIRE(lost_count > 0);
}

TEST_CASE("a table under load has all that it acknowledged when the power goes, and gives it once",
          "[power_cuts]") {
  const doubles::TemporaryFolder folder;
  LossyEnv env;
  std::mt19937_64 random(1);
  std::uint64_t next = 1;
  auto shard = MustOpen(folder.path(), {Always()}, &env);
  for (int cut = 0; cut < PowerCuts(); ++cut) {
    INFO("cut " << cut);
    AwaitDurable(*shard);
    const std::uint64_t first = next;
    Inserting inserting(*shard, first);
    Sampling sampling(*shard);
    const std::uint64_t enough = first + random() % 200;
    REQUIRE(Eventually([&] { return inserting.acknowledged() >= enough; }));
    env.Die();
    sampling.Stop();
    inserting.Stop();
    next = inserting.next();
    shard.reset();
    env.Revive();

    shard = MustOpen(folder.path(), {Always()}, &env);
    const std::vector<std::uint64_t> left = Drain(*shard);
    RequireRow(left);
    // The items of one message may be on their way when the power goes. They count as used.
    const std::uint64_t given = std::max(first - 1, sampling.given());
    if (left.empty()) {
      REQUIRE(inserting.acknowledged() <= given + kMessageItems);
    } else {
      REQUIRE(left.front() > given);
      REQUIRE(left.front() <= given + kMessageItems + 1);
      REQUIRE(left.back() >= inserting.acknowledged());
      REQUIRE(left.back() < next);
    }
  }
}

}  // namespace
}  // namespace shoal::replay::durability
