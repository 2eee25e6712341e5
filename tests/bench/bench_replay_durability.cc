// SPDX-License-Identifier: Apache-2.0
// Measures what the durability of a replay table costs, and what a checkpoint disturbs, with the
// shard in this process.
//
//   bench_replay_durability --directory FOLDER [--bytes 4096] [--seconds 5] [--window 256]
//                           [--checkpoint-gb 0]
//
// One writer inserts items of random bytes into a table that makes room first-in-first-out, and has
// at most `window` items unacknowledged. Each durability prints one JSON line. With --checkpoint-gb
// the table is filled to so many GB with durability "always"; then two lines follow: the times that
// an insert and a sample of one item held up their callers while nothing else happened, and while a
// checkpoint was written. Times of calls include the wait for the shard's lock.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/runtime/log.h"
#include "platform/runtime/random.h"
#include "replay/durability/disk_journal.h"
#include "replay/shard.h"

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

void MeasureCheckpoint(const Settings& settings) {
  Bench bench(settings, replay::Durability::kAlways, "checkpointed");
  const auto bytes = [&bench] { return bench.shard().stats().tables[0].bytes; };
  while (static_cast<double>(bytes()) < settings.checkpoint_gb * 0.98e9) {
    for (int i = 0; i < 1000; ++i) bench.Insert();
  }
  double alone = 0;
  for (const bool checkpoints : {false, true}) {
    std::vector<double> inserts;
    std::vector<double> samples;
    std::atomic<bool> done = !checkpoints;
    const Steady::time_point start = Steady::now();
    if (checkpoints) {
      bench.shard().Checkpoint("bench", [&done](const absl::StatusOr<std::string>& directory) {
        if (!directory.ok()) Stop(directory.status());
        done = true;
      });
    }
    double seconds = 0;
    while (!done || (!checkpoints && Since(start) < settings.seconds)) {
      inserts.push_back(bench.Insert());
      samples.push_back(bench.Sample());
    }
    seconds = Since(start);
    if (!checkpoints) alone = Percentile(inserts, 0.999);
    std::puts(json{{"bench", "replay_checkpoint"},
                   {"checkpoint", checkpoints},
                   {"gigabytes", static_cast<double>(bytes()) / 1e9},
                   {"seconds", seconds},
                   {"calls", inserts.size()},
                   {"insert_p999_ms", 1e3 * Percentile(inserts, 0.999)},
                   {"sample_p999_ms", 1e3 * Percentile(samples, 0.999)},
                   {"insert_longest_ms", 1e3 * Percentile(inserts, 1)},
                   {"sample_longest_ms", 1e3 * Percentile(samples, 1)},
                   {"insert_p999_of_alone", Percentile(inserts, 0.999) / alone}}
                  .dump()
                  .c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Measures durable tables of replay.");
  app.add_option("--directory", settings.directory)->required();
  app.add_option("--bytes", settings.bytes);
  app.add_option("--window", settings.window)->check(CLI::PositiveNumber);
  app.add_option("--seconds", settings.seconds);
  app.add_option("--checkpoint-gb", settings.checkpoint_gb);
  CLI11_PARSE(app, argc, argv);
  spdlog::set_level(spdlog::level::warn);
  MeasureRate(settings, replay::Durability::kNone, "none");
  MeasureRate(settings, replay::Durability::kBatch, "batch");
  MeasureRate(settings, replay::Durability::kAlways, "always");
  if (settings.checkpoint_gb > 0) MeasureCheckpoint(settings);
}
