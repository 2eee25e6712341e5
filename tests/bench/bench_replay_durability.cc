// SPDX-License-Identifier: Apache-2.0
// Measures what the durability of a replay table costs, and what a checkpoint disturbs, with the
// shard in this process.
//
//   bench_replay_durability --directory FOLDER [--bytes 4096] [--seconds 5] [--window 256]
//                           [--checkpoint-gb 0] [--rounds 5]
//
// One writer inserts items of random bytes into a table that makes room first-in-first-out, and has
// at most `window` items unacknowledged. Each durability prints one JSON line.
//
// With --checkpoint-gb the table is filled to so many GB with durability "always", and one more
// line follows. It tells how long an insert and a sample of one item held up their callers, with
// the wait for locks, while nothing else happened and while one checkpoint after the other was
// written. Rounds of both follow each other, and the ratios are medians over rounds. A thread takes
// the locks of the shard and of the journal about every 0.1 ms: no lock is held for longer than it
// had to wait for one at most, but for this interval. Where other programs run, a thread may be
// preempted while it holds a lock, so give the bench a real-time priority there (chrt -r 1).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "platform/runtime/log.h"
#include "platform/runtime/random.h"
#include "platform/runtime/thread.h"
#include "replay/durability/disk_journal.h"
#include "replay/shard.h"
#include "tests/bench/flags.h"

namespace {

using namespace shoal;
using nlohmann::json;
using Steady = std::chrono::steady_clock;

struct Settings {
  std::string directory;
  std::size_t bytes = 4096;
  std::size_t window = 256;
  double seconds = 5;
  double checkpoint_gb = 0;
  std::size_t rounds = 5;
};

double Since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

[[noreturn]] void Stop(const absl::Status& status) {
  std::fprintf(stderr, "error: %s\n", status.ToString().c_str());
  std::exit(1);
}

class Bench {
 public:
  Bench(const Settings& settings, replay::Durability durability, const std::string& name)
      : settings_(settings) {
    const std::size_t most =
        std::max(std::size_t{1} << 28, static_cast<std::size_t>(settings.checkpoint_gb * 1e9));
    replay::TableOptions table{.sampler = replay::SelectorKind::kUniform,
                               .remover = replay::SelectorKind::kFifo,
                               .max_size = std::size_t{1} << 40,
                               .max_bytes = most,
                               .max_times_sampled = 0,
                               .durability = durability};
    std::unique_ptr<replay::Journal> journal;
    if (durability != replay::Durability::kNone) {
      auto made = replay::durability::DiskJournal::Create(
          {.directory = settings.directory + "/" + name,
           .checkpoints = settings.directory + "/checkpoints"});
      if (!made.ok()) Stop(made.status());
      journal = *std::move(made);
    }
    auto shard = replay::Shard::Create({.tables = {table}, .contents = {}}, runtime::SystemClock(),
                                       std::move(journal));
    if (!shard.ok()) Stop(shard.status());
    shard_ = *std::move(shard);
    const auto reader = shard_->OpenReader();
    if (!reader.ok()) Stop(reader.status());
    reader_ = *reader;
  }

  // Inserts one item, once the window and the journal allow it, and returns how long the call that
  // took it lasted.
  double Insert() {
    auto item = std::make_shared<replay::Item>();
    item->id = {.environment_id = ++number_, .incarnation = 1, .first_sequence = 0};
    item->steps = 10;
    item->payload.resize(settings_.bytes);
    for (std::size_t at = 0; at + 8 <= settings_.bytes; at += 8) {
      const std::uint64_t word = random_();
      std::memcpy(item->payload.data() + at, &word, sizeof word);
    }
    while (waiting_.size() >= settings_.window) AwaitAcknowledgement();
    while (true) {
      const Steady::time_point start = Steady::now();
      const absl::Status status = shard_->Insert("unrolls", item);
      const double seconds = Since(start);
      if (status.ok()) {
        waiting_.push_back(shard_->AcknowledgedAt("unrolls"));
        return seconds;
      }
      if (!absl::IsResourceExhausted(status)) Stop(status);
      seen_ = shard_->AwaitChange(seen_, std::chrono::milliseconds(10));
    }
  }

  double Sample() {
    const Steady::time_point start = Steady::now();
    shard_->Sample("unrolls", reader_, 1, 1);
    return Since(start);
  }

  void AwaitAcknowledgement() {
    while (waiting_.front() > shard_->durable()) {
      seen_ = shard_->AwaitChange(seen_, std::chrono::milliseconds(10));
    }
    waiting_.pop_front();
  }

  replay::Shard& shard() { return *shard_; }

 private:
  const Settings& settings_;
  runtime::Random random_{1};
  std::uint64_t number_ = 0;
  int reader_ = 0;
  std::uint64_t seen_ = 0;
  std::deque<std::uint64_t> waiting_;
  std::unique_ptr<replay::Shard> shard_;
};

void MeasureRate(const Settings& settings, replay::Durability durability, const std::string& name) {
  Bench bench(settings, durability, name);
  std::uint64_t items = 0;
  const Steady::time_point start = Steady::now();
  while (Since(start) < settings.seconds) {
    bench.Insert();
    ++items;
  }
  const replay::JournalStats journal = bench.shard().stats().journal;
  const double seconds = Since(start);
  std::puts(json{{"bench", "replay_durability"},
                 {"durability", name},
                 {"bytes", settings.bytes},
                 {"inserts_per_second", static_cast<double>(items) / seconds},
                 {"syncs_per_second", static_cast<double>(journal.syncs_total) / seconds}}
                .dump()
                .c_str());
}

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

// How long calls held up their callers, in milliseconds.
struct Calls {
  std::vector<double> inserts;
  std::vector<double> samples;
  // The longest time for which a lock was held.
  double longest_hold = 0;

  double InsertP999() const { return Percentile(inserts, 0.999); }
  double SampleP999() const { return Percentile(samples, 0.999); }
};

// Takes the locks of a shard and its journal again and again until it is stopped, and notes how
// long it had to wait at most.
class LockProbe {
 public:
  explicit LockProbe(replay::Shard& shard)
      : thread_("lock-probe", [this, &shard] {
          while (!stop_) {
            const Steady::time_point start = Steady::now();
            shard.MassOf("unrolls");
            const double table = Since(start);
            shard.durable();
            const double journal = Since(start) - table;
            longest_ = std::max({longest_, table, journal});
            std::this_thread::sleep_for(std::chrono::microseconds(100));
          }
        }) {}

  // Stops, and returns the longest wait in seconds.
  double Stop() {
    stop_ = true;
    thread_.Join();
    return longest_;
  }

 private:
  // Touched by the thread alone while it runs.
  double longest_ = 0;
  std::atomic<bool> stop_ = false;
  runtime::Thread thread_;
};

class CheckpointBench {
 public:
  explicit CheckpointBench(const Settings& settings)
      : settings_(settings), bench_(settings, replay::Durability::kAlways, "checkpointed") {
    while (static_cast<double>(bytes()) < settings.checkpoint_gb * 0.98e9) {
      for (int i = 0; i < 1000; ++i) bench_.Insert();
    }
  }

  void Measure() {
    std::vector<double> insert_ratios;
    std::vector<double> sample_ratios;
    Calls alone;
    Calls during;
    for (std::size_t round = 0; round < settings_.rounds; ++round) {
      const Calls quiet = Call(false);
      const Calls busy = Call(true);
      std::filesystem::remove_all(settings_.directory + "/checkpoints");
      insert_ratios.push_back(busy.InsertP999() / quiet.InsertP999());
      sample_ratios.push_back(busy.SampleP999() / quiet.SampleP999());
      Append(quiet, alone);
      Append(busy, during);
    }
    std::puts(json{{"bench", "replay_checkpoint"},
                   {"gigabytes", static_cast<double>(bytes()) / 1e9},
                   {"bytes", settings_.bytes},
                   {"rounds", settings_.rounds},
                   {"checkpoints", checkpoint_seconds_.size()},
                   {"checkpoint_seconds", Percentile(checkpoint_seconds_, 0.5)},
                   {"calls_alone", 2 * alone.inserts.size()},
                   {"calls_during", 2 * during.inserts.size()},
                   {"insert_p999_alone_ms", alone.InsertP999()},
                   {"insert_p999_ms", during.InsertP999()},
                   {"insert_p999_ratio", Percentile(insert_ratios, 0.5)},
                   {"sample_p999_alone_ms", alone.SampleP999()},
                   {"sample_p999_ms", during.SampleP999()},
                   {"sample_p999_ratio", Percentile(sample_ratios, 0.5)},
                   {"longest_hold_alone_ms", alone.longest_hold},
                   {"longest_hold_ms", during.longest_hold}}
                  .dump()
                  .c_str());
  }

 private:
  static void Append(const Calls& more, Calls& calls) {
    calls.inserts.insert(calls.inserts.end(), more.inserts.begin(), more.inserts.end());
    calls.samples.insert(calls.samples.end(), more.samples.begin(), more.samples.end());
    calls.longest_hold = std::max(calls.longest_hold, more.longest_hold);
  }
  std::size_t bytes() { return bench_.shard().stats().tables[0].bytes; }

  // Inserts and samples for the time of a round, and beside one checkpoint after the other if
  // `checkpoints`.
  Calls Call(bool checkpoints) {
    Calls calls;
    LockProbe probe(bench_.shard());
    std::atomic<bool> done = true;
    Steady::time_point began;
    const Steady::time_point start = Steady::now();
    while (Since(start) < settings_.seconds || !done) {
      if (checkpoints && done) {
        done = false;
        began = Steady::now();
        const std::string name = "bench-" + std::to_string(checkpoint_seconds_.size());
        bench_.shard().Checkpoint(
            name, [this, &done, began](const absl::StatusOr<std::string>& directory) {
              if (!directory.ok()) Stop(directory.status());
              checkpoint_seconds_.push_back(Since(began));
              done = true;
            });
      }
      calls.inserts.push_back(1e3 * bench_.Insert());
      calls.samples.push_back(1e3 * bench_.Sample());
    }
    calls.longest_hold = 1e3 * probe.Stop();
    return calls;
  }

  const Settings& settings_;
  Bench bench_;
  // Touched by the thread that writes a checkpoint, and by others while it writes none.
  std::vector<double> checkpoint_seconds_;
};

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("Measures durable tables of replay.");
  flags.Add("--directory", settings.directory).Required();
  flags.Add("--bytes", settings.bytes);
  flags.Add("--window", settings.window).Positive();
  flags.Add("--seconds", settings.seconds);
  flags.Add("--checkpoint-gb", settings.checkpoint_gb);
  flags.Add("--rounds", settings.rounds).Positive();
  if (const auto code = flags.Parse(argc, argv)) return *code;
  spdlog::set_level(spdlog::level::warn);
  MeasureRate(settings, replay::Durability::kNone, "none");
  MeasureRate(settings, replay::Durability::kBatch, "batch");
  MeasureRate(settings, replay::Durability::kAlways, "always");
  if (settings.checkpoint_gb > 0) CheckpointBench(settings).Measure();
}
