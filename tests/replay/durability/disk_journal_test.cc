// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/disk_journal.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <future>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "replay/shard.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/manual_clock.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/replay/durability/durable_shard.h"
#include "tests/replay/durability/lossy_env.h"
#include "tests/replay/values.h"

namespace shoal::replay::durability {
namespace {

using doubles::Eventually;
using doubles::TemporaryFolder;

std::string CountsOf(const TableStats& stats) {
  std::string counts =
      "size " + std::to_string(stats.size) + " bytes " + std::to_string(stats.bytes);
  for (const auto& [name, field] : kTableCounts) {
    counts += " " + std::string(name) + " " + std::to_string(stats.*field);
  }
  return counts;
}

// What one sample shows.
using Shown = std::tuple<std::uint64_t, float, std::uint32_t, std::size_t, std::size_t>;

std::vector<Shown> SampleSome(Shard& shard, const std::string& table, std::size_t most) {
  const int reader = *shard.OpenReader();
  std::vector<Shown> shown;
  const SampleBatch batch = shard.Sample(table, reader, most, 1 << 20);
  for (const SampledItem& sample : batch.samples) {
    shown.emplace_back(sample.item->id.environment_id, sample.priority, sample.times_sampled,
                       sample.table_size, batch.contents.size());
  }
  shard.CloseReader(reader);
  return shown;
}

void RequireSame(Shard& durable, Shard& model) {
  const ShardStats a = durable.stats();
  const ShardStats b = model.stats();
  for (std::size_t i = 0; i < a.tables.size(); ++i) {
    INFO(durable.options().tables[i].name);
    REQUIRE(CountsOf(a.tables[i]) == CountsOf(b.tables[i]));
    REQUIRE(a.tables[i].credit == Approx(b.tables[i].credit));
    const Mass mass = durable.MassOf(durable.options().tables[i].name);
    const Mass expected = model.MassOf(durable.options().tables[i].name);
    REQUIRE(mass.size == expected.size);
    REQUIRE(mass.sum == Approx(expected.sum).epsilon(1e-12));
    REQUIRE(mass.least == expected.least);
  }
  REQUIRE(a.content_count == b.content_count);
  REQUIRE(a.content_bytes == b.content_bytes);
  REQUIRE(a.unused_content_bytes == b.unused_content_bytes);
}

std::vector<TableOptions> SeveralTables() {
  // Longer than the test advances the clock, which inserts would otherwise feel.
  constexpr std::chrono::hours kWindow(1);
  return {{.name = "queue",
           .max_size = 20,
           .max_times_sampled = 1,
           .id_window = 30,
           .durability = Durability::kAlways},
          {.name = "heap",
           .sampler = SelectorKind::kMaxHeap,
           .remover = SelectorKind::kFifo,
           .max_size = 15,
           .max_times_sampled = 0,
           .limiter = {.min_size = 3, .samples_per_insert = 2, .error_buffer = 60},
           .id_window = 10,
           .durability = Durability::kAlways},
          {.name = "stack",
           .sampler = SelectorKind::kLifo,
           .remover = SelectorKind::kMinHeap,
           .max_size = 25,
           .max_times_sampled = 24,
           .max_staleness = 40,
           .max_age = std::chrono::seconds(40),
           .durability = Durability::kBatch,
           .batch_window = kWindow},
          {.name = "uniform",
           .sampler = SelectorKind::kUniform,
           .remover = SelectorKind::kFifo,
           .max_size = 15,
           .max_times_sampled = 0,
           .durability = Durability::kAlways},
          {.name = "prioritized",
           .sampler = SelectorKind::kPrioritized,
           .remover = SelectorKind::kMinHeap,
           .max_size = 25,
           .max_times_sampled = 0,
           .durability = Durability::kBatch,
           .batch_window = kWindow},
          {.name = "recency",
           .sampler = SelectorKind::kRecency,
           .remover = SelectorKind::kLifo,
           .max_size = 20,
           .max_times_sampled = 0,
           .durability = Durability::kAlways}};
}

// Does the same random thing to both shards and requires the same outcome.
void DoOne(std::mt19937_64& random, std::uint64_t& number, doubles::ManualClock& clock,
           Shard& durable, Shard& model) {
  const std::vector<TableOptions>& tables = durable.options().tables;
  const std::string table = tables[random() % tables.size()].name;
  clock.Advance(std::chrono::milliseconds(random() % 300));
  const auto one_of = [&](std::uint64_t bound) { return random() % bound; };
  switch (one_of(6)) {
    case 0:
    case 1: {
      // Sometimes an id that was there before.
      const std::uint64_t id = one_of(8) == 0 ? one_of(number + 1) : ++number;
      const int content = static_cast<int>(one_of(12));
      const std::string encoder = one_of(20) == 0 ? "other" : "encoder";
      const auto priority = static_cast<float>(one_of(100));
      absl::StatusCode codes[2];
      for (Shard* shard : {&durable, &model}) {
        REQUIRE(shard->Put(EmbeddingNumber(content, encoder)).ok());
        auto item = ItemNumber(id, number / 4);
        item->priority = priority;
        item->keys = ContentKeys({KeyNumber(content)});
        codes[shard == &model] = shard->Insert(table, item).code();
      }
      REQUIRE(codes[0] == codes[1]);
      break;
    }
    case 2: {
      // Two shards do not draw the same at random, so such tables are compared by their masses.
      if (durable.DrawsAtRandom(table)) break;
      const std::size_t most = 1 + one_of(4);
      REQUIRE(SampleSome(durable, table, most) == SampleSome(model, table, most));
      break;
    }
    case 3: {
      const PriorityUpdate update{
          .id = {.environment_id = one_of(number + 1), .incarnation = 1, .first_sequence = 0},
          .priority = static_cast<float>(one_of(100))};
      REQUIRE(durable.Update(table, {&update, 1}) == model.Update(table, {&update, 1}));
      break;
    }
    case 4:
      for (Shard* shard : {&durable, &model}) {
        shard->SetCurrentVersion(table, {.epoch = 1, .step = number / 4}, 0);
      }
      break;
    default:
      REQUIRE(durable.Room(table) == model.Room(table));
  }
}

TEST_CASE("a shard that ends and begins again goes on as one that never ended") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    INFO("seed " << seed);
    const TemporaryFolder folder;
    const std::vector<TableOptions> tables = SeveralTables();
    doubles::ManualClock clock;
    const auto model = *Shard::Create({.tables = tables, .contents = {}}, clock);
    std::mt19937_64 random(seed);
    std::uint64_t number = 0;
    for (int round = 0; round < 12; ++round) {
      const auto durable = *Open(folder.path(), tables, nullptr, clock);
      RequireSame(*durable, *model);
      const std::uint64_t operations = random() % 400;
      for (std::uint64_t i = 0; i < operations; ++i) DoOne(random, number, clock, *durable, *model);
      RequireSame(*durable, *model);
    }
  }
}

TEST_CASE("a durable table with items refuses those of another signature after a restart, too") {
  const TemporaryFolder folder;
  const Signature four = *Signature::Parse("x FLOAT32 [4]");
  const Signature five = *Signature::Parse("x FLOAT32 [5]");
  const Signature more = *Signature::Parse("x FLOAT32 [4]\ny INT8 [] optional");
  auto shard = MustOpen(folder.path(), {Always()});
  REQUIRE(shard->Admit("unrolls", four).ok());
  REQUIRE(Insert(*shard, 1).ok());
  REQUIRE(shard->Admit("unrolls", more).ok());
  shard.reset();
  shard = MustOpen(folder.path(), {Always()});
  REQUIRE(shard->tables()[0].signature == more.Text());
  const absl::Status refused = shard->Admit("unrolls", five);
  REQUIRE(absl::IsFailedPrecondition(refused));
  REQUIRE(runtime::Message(refused).find("column x is FLOAT32 [4] in the table") !=
          std::string::npos);
  shard.reset();

  TableOptions configured = Always();
  configured.signature = five;
  const absl::Status start = Open(folder.path(), {configured}).status();
  REQUIRE(absl::IsFailedPrecondition(start));
  REQUIRE(runtime::Message(start).find("column x") != std::string::npos);

  // Without items there is nothing that others could be mixed with.
  shard = MustOpen(folder.path(), {Always()});
  REQUIRE(Drain(*shard).size() == 1);
  shard.reset();
  shard = MustOpen(folder.path(), {Always()});
  REQUIRE(shard->Admit("unrolls", five).ok());
}

TEST_CASE("with another ratio after a restart the credit is what the items may still give") {
  const TemporaryFolder folder;
  auto shard = MustOpen(folder.path(), {Always(32)});
  for (std::uint64_t i = 1; i <= 3; ++i) REQUIRE(Insert(*shard, i).ok());
  REQUIRE(SampleSome(*shard, "unrolls", 4).size() == 4);
  REQUIRE(shard->stats().tables[0].credit == 0);
  shard.reset();
  TableOptions limited = Always(32);
  limited.limiter = {.min_size = 1, .samples_per_insert = 8, .error_buffer = 10};
  // Items of 10 steps: the first may be used four times more, the others eight times.
  for (int start = 0; start < 2; ++start) {
    shard = MustOpen(folder.path(), {limited});
    REQUIRE(shard->stats().tables[0].credit == 200);
    shard.reset();
  }
}

TEST_CASE("contents that were evicted stay away, and those in use survive though all come unused") {
  const TemporaryFolder folder;
  const std::size_t bytes = EmbeddingNumber(0).bytes();
  const ContentStoreOptions contents{.capacity_bytes = 6 * bytes, .unused_capacity_bytes = bytes};
  auto shard = *Open(folder.path(), {Always()}, nullptr, runtime::SystemClock(), contents);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(shard->Put(EmbeddingNumber(i)).ok());
    auto item = ItemNumber(static_cast<std::uint64_t>(i));
    item->keys = ContentKeys({KeyNumber(i)});
    REQUIRE(shard->Insert("unrolls", item).ok());
  }
  REQUIRE(SampleSome(*shard, "unrolls", 2).size() == 2);
  REQUIRE(shard->stats().content_count == 3);
  shard.reset();
  shard = *Open(folder.path(), {Always()}, nullptr, runtime::SystemClock(), contents);
  REQUIRE(shard->stats().content_count == 3);
  REQUIRE(shard->stats().unused_content_bytes == bytes);
  REQUIRE(shard->stats().journal.damaged_total == 0);
  REQUIRE(SampleSome(*shard, "unrolls", 2).size() == 2);
}

TEST_CASE("what was durable when the power went is there again, in order, and nothing twice") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    INFO("seed " << seed);
    const TemporaryFolder folder;
    LossyEnv env;
    std::mt19937_64 random(seed);
    std::uint64_t inserted = 0;
    std::uint64_t promised = 0;
    std::uint64_t taken = 0;
    for (int life = 0; life < 4; ++life) {
      auto shard = MustOpen(folder.path(), {Always()}, &env);
      const int reader = *shard->OpenReader();
      const std::uint64_t operations = 1 + random() % 60;
      std::uint64_t acknowledged_at = 0;
      for (std::uint64_t i = 0; i < operations; ++i) {
        if (random() % 3 == 0) {
          const SampleBatch batch = shard->Sample("unrolls", reader, 1, 1 << 20);
          if (batch.samples.empty()) continue;
          REQUIRE(Eventually([&] { return shard->durable() >= batch.durable_at; }));
          REQUIRE(batch.samples[0].item->id.environment_id > taken);
          taken = batch.samples[0].item->id.environment_id;
        } else {
          REQUIRE(Insert(*shard, ++inserted).ok());
          acknowledged_at = shard->AcknowledgedAt("unrolls");
        }
        if (random() % 4 == 0 && acknowledged_at > 0) {
          REQUIRE(Eventually([&] { return shard->durable() >= acknowledged_at; }));
          promised = inserted;
        }
      }
      env.Die();
      shard.reset();
      env.Revive();
    }
    auto shard = MustOpen(folder.path(), {Always()}, &env);
    const std::vector<std::uint64_t> left = Drain(*shard);
    // What is left is whole, from the first that was not taken to at least the last that was
    // promised. Numbers of items that a power cut took were not given again.
    REQUIRE(std::is_sorted(left.begin(), left.end()));
    REQUIRE(std::adjacent_find(left.begin(), left.end()) == left.end());
    if (!left.empty()) REQUIRE(left.front() > taken);
    if (promised > taken) REQUIRE(std::binary_search(left.begin(), left.end(), promised));
  }
}

TEST_CASE("an acknowledgement that promises the disk waits for it") {
  const TemporaryFolder folder;
  LossyEnv env;
  auto shard = MustOpen(folder.path(), {Always()}, &env);
  AwaitDurable(*shard);
  env.HoldSyncs(true);
  REQUIRE(Insert(*shard, 1).ok());
  const std::uint64_t position = shard->AcknowledgedAt("unrolls");
  REQUIRE(position > shard->durable());
  env.HoldSyncs(false);
  REQUIRE(Eventually([&] { return shard->durable() >= position; }));
}

TEST_CASE("a batch is written within half its window, and only what is older than it can be lost") {
  const TemporaryFolder folder;
  LossyEnv env;
  doubles::ManualClock clock;
  const TableOptions table{.durability = Durability::kBatch,
                           .batch_window = std::chrono::seconds(2)};
  auto shard = *Open(folder.path(), {table}, &env, clock);
  AwaitDurable(*shard);
  REQUIRE(Insert(*shard, 1).ok());
  REQUIRE(shard->AcknowledgedAt("unrolls") == 0);
  const std::uint64_t waits = clock.waits();
  REQUIRE(Eventually([&] { return clock.waits() > waits + 1; }));
  REQUIRE(shard->stats().journal.waiting_changes > 0);
  clock.Advance(std::chrono::seconds(1));
  AwaitDurable(*shard);
  REQUIRE(Insert(*shard, 2).ok());
  env.Die();
  shard.reset();
  env.Revive();
  shard = *Open(folder.path(), {table}, &env, clock);
  REQUIRE(Drain(*shard) == std::vector<std::uint64_t>{1});
}

TEST_CASE("inserts, not samples, are put off when a batch takes longer to write than its window") {
  const TemporaryFolder folder;
  LossyEnv env;
  doubles::ManualClock clock;
  const TableOptions table{.durability = Durability::kBatch,
                           .batch_window = std::chrono::seconds(2)};
  auto shard = *Open(folder.path(), {table}, &env, clock);
  AwaitDurable(*shard);
  env.HoldSyncs(true);
  REQUIRE(Insert(*shard, 1).ok());
  clock.Advance(std::chrono::seconds(3));
  const absl::Status status = Insert(*shard, 2);
  REQUIRE(absl::IsResourceExhausted(status));
  REQUIRE(runtime::Message(status).find("batch_window_ms") != std::string::npos);
  REQUIRE(shard->Room("unrolls") == 0);
  REQUIRE(SampleSome(*shard, "unrolls", 1).size() == 1);
  env.HoldSyncs(false);
  // The use of the sample may belong to the next batch, which is written within half a window.
  clock.Advance(std::chrono::seconds(1));
  AwaitDurable(*shard);
  REQUIRE(Insert(*shard, 2).ok());
}

TEST_CASE("uses are reserved ahead, and those that a kill took count as used") {
  const TemporaryFolder folder;
  LossyEnv env;
  auto shard = MustOpen(folder.path(), {Always(32)}, &env);
  REQUIRE(Insert(*shard, 1).ok());
  AwaitDurable(*shard);
  const int reader = *shard->OpenReader();
  std::uint64_t durable_at = 0;
  for (std::uint32_t use = 1; use <= 5; ++use) {
    const SampleBatch batch = shard->Sample("unrolls", reader, 1, 1 << 20);
    REQUIRE(batch.samples[0].times_sampled == use);
    // Only the first of four uses that are reserved together waits for the disk.
    const bool waits = batch.durable_at > durable_at;
    REQUIRE(waits == (use % 4 == 1));
    durable_at = batch.durable_at;
  }
  REQUIRE(Eventually([&] { return shard->durable() >= durable_at; }));
  env.Die();
  shard.reset();
  env.Revive();
  shard = MustOpen(folder.path(), {Always(32)}, &env);
  REQUIRE(shard->Sample("unrolls", *shard->OpenReader(), 1, 1 << 20).samples[0].times_sampled == 9);
}

TEST_CASE("a use that was reserved anew at the start waits until the reservation is on disk") {
  const TemporaryFolder folder;
  LossyEnv env;
  auto shard = MustOpen(folder.path(), {Always(32)}, &env);
  REQUIRE(Insert(*shard, 1).ok());
  REQUIRE(SampleSome(*shard, "unrolls", 2).size() == 2);
  shard.reset();
  // The disk has exactly two uses. The third is in the block of four that the start reserves.
  auto journal = DiskJournal::Create(
      {.directory = folder.path(), .retry = std::chrono::milliseconds(1), .env = &env});
  env.HoldSyncs(true);
  shard = *Shard::Create({.tables = {Always(32)}, .contents = {}}, runtime::SystemClock(),
                         *std::move(journal));
  const SampleBatch batch = shard->Sample("unrolls", *shard->OpenReader(), 1, 1 << 20);
  const bool waits = batch.durable_at > shard->durable();
  // A shard whose syncs are held would not end.
  env.HoldSyncs(false);
  REQUIRE(waits);
  REQUIRE(batch.samples[0].times_sampled == 3);
  REQUIRE(Eventually([&] { return shard->durable() >= batch.durable_at; }));
  env.Die();
  shard.reset();
  env.Revive();
  shard = MustOpen(folder.path(), {Always(32)}, &env);
  REQUIRE(shard->Sample("unrolls", *shard->OpenReader(), 1, 1 << 20).samples[0].times_sampled == 5);
}

TEST_CASE("a full disk puts inserts off, and the shard goes on once there is space") {
  const TemporaryFolder folder;
  LossyEnv env;
  auto shard = MustOpen(folder.path(), {Always()}, &env);
  REQUIRE(Insert(*shard, 1).ok());
  AwaitDurable(*shard);
  env.Fill();
  REQUIRE(Insert(*shard, 2).ok());
  const std::uint64_t position = shard->AcknowledgedAt("unrolls");
  REQUIRE(Eventually([&] { return shard->stats().journal.failing; }));
  const absl::Status status = Insert(*shard, 3);
  REQUIRE(absl::IsResourceExhausted(status));
  REQUIRE(runtime::Message(status).find("the disk is full") != std::string::npos);
  REQUIRE(shard->durable() < position);
  env.Free();
  REQUIRE(Eventually([&] { return shard->durable() >= position; }));
  REQUIRE(Insert(*shard, 3).ok());
  AwaitDurable(*shard);
  env.Die();
  shard.reset();
  env.Revive();
  shard = MustOpen(folder.path(), {Always()}, &env);
  REQUIRE(Drain(*shard) == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("a shard does not start on a disk that is read-only, and says so in one line") {
  const TemporaryFolder folder;
  LossyEnv env;
  MustOpen(folder.path(), {Always()}, &env).reset();
  env.Protect();
  const absl::Status status = Open(folder.path(), {Always()}, &env).status();
  REQUIRE(absl::IsFailedPrecondition(status));
  const std::string message = runtime::Message(status);
  REQUIRE(message.starts_with(folder.path() + ": "));
  REQUIRE(message.find("Read-only file system") != std::string::npos);
  REQUIRE(message.find('\n') == std::string::npos);
}

TEST_CASE("a disk that becomes read-only puts inserts off by that reason, until it is writable") {
  const TemporaryFolder folder;
  LossyEnv env;
  auto shard = MustOpen(folder.path(), {Always()}, &env);
  REQUIRE(Insert(*shard, 1).ok());
  AwaitDurable(*shard);
  env.Protect();
  REQUIRE(Insert(*shard, 2).ok());
  REQUIRE(Eventually([&] { return shard->stats().journal.failing; }));
  const absl::Status status = Insert(*shard, 3);
  REQUIRE(absl::IsResourceExhausted(status));
  REQUIRE(runtime::Message(status).find("Read-only file system") != std::string::npos);
  env.Free();
  AwaitDurable(*shard);
  REQUIRE(Insert(*shard, 3).ok());
}

absl::StatusOr<std::string> CheckpointOf(Shard& shard, const std::string& id) {
  std::promise<absl::StatusOr<std::string>> promise;
  shard.Checkpoint(id, [&promise](const absl::StatusOr<std::string>& directory) {
    promise.set_value(directory);
  });
  return promise.get_future().get();
}

std::unique_ptr<Shard> OpenBelow(const TemporaryFolder& folder, const std::string& name,
                                 const std::string& restore = "") {
  auto journal = DiskJournal::Create({.directory = folder.At(name + "/shard-0"),
                                      .checkpoints = folder.At("checkpoints"),
                                      .restore = restore});
  INFO(journal.status().ToString());
  REQUIRE(journal.ok());
  return *Shard::Create({.tables = {Always()}, .contents = {}}, runtime::SystemClock(),
                        *std::move(journal));
}

TEST_CASE("a shard begins with a checkpoint, however the one that wrote it went on") {
  const TemporaryFolder folder;
  auto shard = OpenBelow(folder, "state");
  for (std::uint64_t i = 1; i <= 3; ++i) REQUIRE(Insert(*shard, i).ok());
  REQUIRE(*CheckpointOf(*shard, "epoch-2-step-70") ==
          folder.At("checkpoints/epoch-2-step-70/shard-0"));
  REQUIRE(Insert(*shard, 4).ok());
  REQUIRE(Drain(*shard) == std::vector<std::uint64_t>{1, 2, 3, 4});
  REQUIRE(CheckpointOf(*shard, "later").ok());
  shard.reset();
  std::filesystem::remove_all(folder.At("state"));

  const std::string first = folder.At("checkpoints/epoch-2-step-70");
  shard = OpenBelow(folder, "state", first);
  REQUIRE(shard->stats().journal.learner_checkpoint == "epoch-2-step-70");
  REQUIRE(shard->stats().tables[0].inserted_total == 3);
  REQUIRE(Insert(*shard, 5).ok());
  shard.reset();
  // A shard that has begun so goes on with its own state, and the checkpoint stays as it was.
  shard = OpenBelow(folder, "state", first);
  REQUIRE(Drain(*shard) == std::vector<std::uint64_t>{1, 2, 3, 5});
  shard = OpenBelow(folder, "other", first);
  REQUIRE(Drain(*shard) == std::vector<std::uint64_t>{1, 2, 3});
  shard = OpenBelow(folder, "third", folder.At("checkpoints/later"));
  REQUIRE(shard->stats().tables[0].sampled_total == 4);
  REQUIRE(Drain(*shard).empty());
}

TEST_CASE("a checkpoint that cannot be named, is there already or has no table is refused") {
  const TemporaryFolder folder;
  auto shard = OpenBelow(folder, "state");
  for (const std::string& name :
       {std::string(), std::string("../up"), std::string("a/b"), std::string(101, 'a')}) {
    REQUIRE(absl::IsInvalidArgument(CheckpointOf(*shard, name).status()));
  }
  REQUIRE(CheckpointOf(*shard, "one").ok());
  REQUIRE(absl::IsFailedPrecondition(CheckpointOf(*shard, "one").status()));
  const auto plain = *Shard::Create({.tables = {{}}, .contents = {}});
  REQUIRE(absl::IsFailedPrecondition(CheckpointOf(*plain, "one").status()));
  const absl::Status missing =
      DiskJournal::Create({.directory = folder.At("new/shard-0"), .restore = folder.At("nowhere")})
          .status();
  REQUIRE(absl::IsFailedPrecondition(missing));
  REQUIRE(runtime::Message(missing).find("nowhere") != std::string::npos);
  REQUIRE_FALSE(std::filesystem::exists(folder.At("new/shard-0")));
}

TEST_CASE("a checkpoint on a full disk says so, and the shard goes on once there is space") {
  const TemporaryFolder folder;
  LossyEnv env;
  auto journal = DiskJournal::Create({.directory = folder.At("shard-0"),
                                      .checkpoints = folder.At("checkpoints"),
                                      .retry = std::chrono::milliseconds(1),
                                      .env = &env});
  const auto shard = *Shard::Create({.tables = {Always()}, .contents = {}}, runtime::SystemClock(),
                                    *std::move(journal));
  AwaitDurable(*shard);
  env.Fill();
  REQUIRE(absl::IsResourceExhausted(CheckpointOf(*shard, "full").status()));
  env.Free();
  REQUIRE(Eventually([&] { return CheckpointOf(*shard, "free").ok(); }));
}

TEST_CASE("a directory that another shard uses, or that is none, is refused with its name") {
  const TemporaryFolder folder;
  const auto shard = MustOpen(folder.At("shard"), {Always()});
  const absl::Status locked = Open(folder.At("shard"), {Always()}).status();
  REQUIRE(absl::IsFailedPrecondition(locked));
  REQUIRE(runtime::Message(locked).find(folder.At("shard")) != std::string::npos);
  folder.Write("file", "x");
  REQUIRE(absl::IsFailedPrecondition(Open(folder.At("file"), {Always()}).status()));
}

TEST_CASE("a directory that holds a table which is not durable any more is refused, by name") {
  const TemporaryFolder folder;
  TableOptions other = Always();
  other.name = "other";
  MustOpen(folder.path(), {Always(), other}).reset();
  const absl::Status status = Open(folder.path(), {Always()}).status();
  REQUIRE(absl::IsFailedPrecondition(status));
  REQUIRE(runtime::Message(status).find("table other") != std::string::npos);
}

}  // namespace
}  // namespace shoal::replay::durability
