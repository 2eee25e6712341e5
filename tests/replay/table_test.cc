// SPDX-License-Identifier: Apache-2.0
#include "replay/table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/replay/values.h"

namespace shoal::replay {
namespace {

std::unique_ptr<Table> MakeTable(ContentStore& contents, TableOptions options) {
  auto table = Table::Create(std::move(options), contents);
  REQUIRE(table.ok());
  return *std::move(table);
}

absl::Status Insert(Table& table, std::shared_ptr<Item> item) { return table.Insert(item); }

TEST_CASE("a table gives items oldest first, each as often as it may, and then no more") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.max_times_sampled = 2});
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(Insert(*table, ItemNumber(i)).ok());
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (std::uint32_t time = 1; time <= 2; ++time) {
      const auto sample = table->Sample();
      REQUIRE(sample);
      REQUIRE(sample->item->id.environment_id == i);
      REQUIRE(sample->times_sampled == time);
      REQUIRE(sample->last == (time == 2));
      REQUIRE(sample->table_size == 3 - i);
      table->ReleaseSample(*sample);
    }
  }
  REQUIRE_FALSE(table->Sample());
  REQUIRE(table->stats().bytes == 0);
}

TEST_CASE("an id seen before is taken and stored no second time, even after it left") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {});
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  REQUIRE(table->size() == 1);
  REQUIRE(table->Sample());
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  REQUIRE_FALSE(table->Sample());
  REQUIRE(table->stats().duplicates_total == 2);
}

TEST_CASE("a full table pushes back, keeps the item with the caller, and takes it later") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.max_size = 1});
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  auto item = ItemNumber(2);
  REQUIRE(absl::IsResourceExhausted(table->Insert(item)));
  REQUIRE(item);
  REQUIRE(table->room() == 0);
  REQUIRE(table->Sample());
  REQUIRE(table->room() == 1);
  REQUIRE(table->Insert(item).ok());
  REQUIRE_FALSE(item);
  REQUIRE(table->stats().full_items_total == 1);
}

TEST_CASE("bytes bound a table too, and open it for samples below its minimum size") {
  ContentStore contents({});
  const std::size_t bytes = ItemNumber(1)->bytes();
  const auto table =
      MakeTable(contents, {.max_bytes = 2 * bytes + bytes / 2, .limiter = {.min_size = 4}});
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  REQUIRE_FALSE(table->Sample());
  REQUIRE(Insert(*table, ItemNumber(2)).ok());
  REQUIRE(absl::IsResourceExhausted(Insert(*table, ItemNumber(3))));
  REQUIRE(table->Sample());
  REQUIRE_FALSE(table->Sample());
  REQUIRE(absl::IsInvalidArgument(Insert(*table, ItemNumber(4, 0, 3 * bytes))));
  REQUIRE(table->stats().full_bytes_total == 1);
}

TEST_CASE("a table below its minimum size gives nothing") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.limiter = {.min_size = 2}});
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  REQUIRE_FALSE(table->Sample());
  REQUIRE(table->stats().below_min_size_total == 1);
  REQUIRE(Insert(*table, ItemNumber(2)).ok());
  REQUIRE(table->Sample());
}

TEST_CASE("what is stale by epoch or by steps is evicted, refused later, and gives credit back") {
  ContentStore contents({});
  const auto table = MakeTable(
      contents, {.max_times_sampled = 1,
                 .limiter = {.min_size = 1, .samples_per_insert = 1, .error_buffer = 15}});
  for (std::uint64_t step = 0; step < 2; ++step) {
    REQUIRE(Insert(*table, ItemNumber(step, step)).ok());
  }
  REQUIRE(absl::IsResourceExhausted(Insert(*table, ItemNumber(8, 8))));
  table->SetCurrentVersion({.epoch = 1, .step = 3}, 2);
  const auto evicted = table->TakeEvicted();
  REQUIRE(evicted.size() == 1);
  REQUIRE(evicted[0]->oldest_version.step == 0);
  REQUIRE(table->stats().credit == 10);
  REQUIRE(Insert(*table, ItemNumber(9, 0)).ok());
  REQUIRE(table->size() == 1);
  table->SetCurrentVersion({.epoch = 1, .step = 1}, 2);
  table->SetCurrentVersion({.epoch = 2, .step = 0}, 2);
  REQUIRE(table->size() == 0);
  REQUIRE(table->stats().evicted_stale_total == 3);
  REQUIRE(table->stats().credit == 0);
  REQUIRE(Insert(*table, ItemNumber(8, 8)).ok());
  REQUIRE(table->size() == 0);
}

TEST_CASE("with no maximal lag nothing is ever stale") {
  REQUIRE_FALSE(IsStale({.epoch = 1, .step = 0}, {.epoch = 5, .step = 9}, 0));
  REQUIRE(IsStale({.epoch = 1, .step = 9}, {.epoch = 2, .step = 0}, 5));
  REQUIRE_FALSE(IsStale({.epoch = 2, .step = 4}, {.epoch = 2, .step = 9}, 5));
  REQUIRE(IsStale({.epoch = 2, .step = 3}, {.epoch = 2, .step = 9}, 5));
  REQUIRE_FALSE(IsStale({.epoch = 3, .step = 0}, {.epoch = 2, .step = 9}, 5));
}

TEST_CASE(
    "a table bounds staleness by itself, and a sampling stream may ask for less but not more") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.max_staleness = 2});
  for (std::uint64_t step = 0; step < 6; ++step)
    REQUIRE(Insert(*table, ItemNumber(step, step)).ok());
  table->SetCurrentVersion({.epoch = 1, .step = 3}, 0);
  REQUIRE(table->size() == 5);
  table->SetCurrentVersion({.epoch = 1, .step = 4}, 10);
  REQUIRE(table->size() == 4);
  table->SetCurrentVersion({.epoch = 1, .step = 4}, 1);
  REQUIRE(table->size() == 3);
}

TEST_CASE("without a bound on staleness items of an earlier epoch stay and are given out") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {});
  REQUIRE(Insert(*table, ItemNumber(1, 7)).ok());
  table->SetCurrentVersion({.epoch = 5, .step = 0}, 0);
  REQUIRE(Insert(*table, ItemNumber(2, 8)).ok());
  REQUIRE(table->size() == 2);
  REQUIRE(table->Sample()->item->id.environment_id == 1);
}

TEST_CASE("items of excluded versions are drawn no more, however a table chooses") {
  const SelectorKind kind =
      GENERATE(SelectorKind::kUniform, SelectorKind::kPrioritized, SelectorKind::kRecency,
               SelectorKind::kFifo, SelectorKind::kMaxHeap);
  ContentStore contents({});
  const auto table = MakeTable(
      contents, {.sampler = kind, .remover = SelectorKind::kFifo, .max_times_sampled = 0});
  // Two versions acted in each item: its own and the next one, perhaps of the next epoch.
  constexpr std::uint64_t kSteps = 20;
  const auto version = [](std::uint64_t number) {
    return PolicyVersion{.epoch = 1 + number / kSteps, .step = number % kSteps};
  };
  const auto item_of = [&version](std::uint64_t number) {
    auto item = ItemNumber(number);
    item->oldest_version = version(number);
    item->newest_version = version(number + 1);
    item->priority = static_cast<float>(1 + number);
    return item;
  };
  for (std::uint64_t i = 0; i < 3 * kSteps; ++i) REQUIRE(Insert(*table, item_of(i)).ok());
  // Versions 15 to 44 by number.
  table->Exclude({.first = {1, 15}, .last = {3, 4}});
  const auto condemned = [](std::uint64_t number) { return number >= 14 && number <= 44; };
  REQUIRE(table->size() == 29);
  REQUIRE(table->stats().evicted_excluded_total == 31);

  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 4000; ++i) {
    const auto sample = table->Sample();
    REQUIRE(sample);
    const std::uint64_t number = sample->item->id.environment_id;
    REQUIRE_FALSE(condemned(number));
    drawn.insert(number);
    // The odds are those among the items that are left.
    if (kind == SelectorKind::kUniform) REQUIRE(sample->probability == Approx(1.0 / 29));
    table->ReleaseSample(*sample);
  }
  if (kind == SelectorKind::kUniform || kind == SelectorKind::kPrioritized) {
    REQUIRE(drawn.size() == 29);
  }
  // Neither a new priority nor another try brings one back.
  REQUIRE(absl::IsNotFound(table->Update(ItemNumber(20)->id, 1000)));
  auto late = item_of(3 * kSteps);
  late->oldest_version = {3, 4};
  REQUIRE(absl::IsFailedPrecondition(table->Insert(late)));
  REQUIRE(Insert(*table, item_of(3 * kSteps)).ok());
}

TEST_CASE("excluded ranges that overlap or follow each other count as one, and 1024 are the most") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {});
  // Each second version, the last ones first.
  for (std::uint64_t i = 1024; i-- > 0;) {
    const VersionRange range{.first = {1, 2 * i}, .last = {1, 2 * i}};
    REQUIRE(table->CheckExclude(range).ok());
    table->Exclude(range);
  }
  REQUIRE(table->record().excluded->size() == 1024);
  REQUIRE(absl::IsResourceExhausted(table->CheckExclude({.first = {1, 5000}, .last = {1, 5000}})));
  REQUIRE(Insert(*table, ItemNumber(1, 7)).ok());

  const VersionRange between{.first = {1, 7}, .last = {1, 9}};
  REQUIRE(table->CheckExclude(between).ok());
  table->Exclude(between);
  REQUIRE(table->size() == 0);
  // 6 and 7 to 9 and 10 are one range now.
  REQUIRE(table->record().excluded->size() == 1022);
  REQUIRE(table->record().excluded->at(3) == VersionRange{.first = {1, 6}, .last = {1, 10}});
  table->Exclude({.first = {0, 3}, .last = {1, 2045}});
  REQUIRE(*table->record().excluded ==
          std::vector<VersionRange>{{.first = {0, 3}, .last = {1, 2046}}});
  REQUIRE(absl::IsFailedPrecondition(Insert(*table, ItemNumber(2, 2046))));
  REQUIRE(Insert(*table, ItemNumber(3, 2047)).ok());
}

TEST_CASE("items that are older than the table allows leave, in the order in which they came") {
  using std::chrono::seconds;
  ContentStore contents({});
  const auto table = MakeTable(
      contents, {.max_times_sampled = 2, .max_age = seconds(10), .limiter = {.min_size = 1}});
  const runtime::TimePoint start{};
  for (int i = 0; i < 4; ++i) {
    table->SetTime(start + seconds(3 * i));
    REQUIRE(Insert(*table, ItemNumber(static_cast<std::uint64_t>(i))).ok());
  }
  table->SetTime(start + seconds(10));
  REQUIRE(table->size() == 4);
  REQUIRE(table->Sample()->item->id.environment_id == 0);
  table->SetTime(start + seconds(14));
  REQUIRE(table->stats().evicted_old_total == 2);
  const auto evicted = table->TakeEvicted();
  REQUIRE(evicted.size() == 2);
  REQUIRE(evicted[0]->id.environment_id == 0);
  REQUIRE(evicted[1]->id.environment_id == 1);
  for (int i = 0; i < 2; ++i) REQUIRE(table->Sample()->item->id.environment_id == 2);
  table->SetTime(start + seconds(100));
  REQUIRE(table->size() == 0);
  REQUIRE(table->stats().evicted_old_total == 3);
}

TEST_CASE("a full table with a remover evicts what that chooses, and takes every item") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.sampler = SelectorKind::kUniform,
                                          .remover = SelectorKind::kFifo,
                                          .max_size = 3,
                                          .max_times_sampled = 0});
  for (std::uint64_t i = 0; i < 5; ++i) REQUIRE(Insert(*table, ItemNumber(i)).ok());
  REQUIRE(table->size() == 3);
  REQUIRE(table->room() > 0);
  const auto evicted = table->TakeEvicted();
  REQUIRE(evicted.size() == 2);
  REQUIRE(evicted[0]->id.environment_id == 0);
  REQUIRE(evicted[1]->id.environment_id == 1);
  REQUIRE(table->stats().evicted_for_room_total == 2);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100; ++i) {
    const auto sample = table->Sample();
    REQUIRE(sample->probability == Approx(1.0 / 3));
    seen.insert(sample->item->id.environment_id);
    table->ReleaseSample(*sample);
  }
  REQUIRE(seen == std::set<std::uint64_t>{2, 3, 4});
}

TEST_CASE("a remover makes room for bytes too, and never for an item larger than the table") {
  ContentStore contents({});
  const std::size_t bytes = ItemNumber(1)->bytes();
  const auto table = MakeTable(contents, {.remover = SelectorKind::kFifo, .max_bytes = 3 * bytes});
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(Insert(*table, ItemNumber(i)).ok());
  REQUIRE(Insert(*table, ItemNumber(3, 0, 100 + bytes)).ok());
  REQUIRE(table->size() == 2);
  REQUIRE(absl::IsInvalidArgument(Insert(*table, ItemNumber(4, 0, 3 * bytes))));
  REQUIRE(table->size() == 2);
}

TEST_CASE("an item refused for its contents evicts nothing") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.remover = SelectorKind::kFifo, .max_size = 1});
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  auto item = ItemNumber(2);
  item->keys = ContentKeys({KeyNumber(1)});
  REQUIRE(absl::IsNotFound(table->Insert(item)));
  REQUIRE(table->Sample()->item->id.environment_id == 1);
}

TEST_CASE("a priority is changed while its item is in, and travels with the item") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.max_times_sampled = 2});
  auto item = ItemNumber(1);
  item->priority = 0.5F;
  const UnrollId id = item->id;
  REQUIRE(table->Insert(item).ok());
  const auto first = table->Sample();
  REQUIRE(first->priority == 0.5F);
  REQUIRE(table->Update(id, 2.5F).ok());
  REQUIRE(first->item->priority == 0.5F);
  REQUIRE(table->Sample()->priority == 2.5F);
  REQUIRE(absl::IsNotFound(table->Update(id, 3)));
  REQUIRE(table->stats().priority_updates_total == 1);
}

TEST_CASE("an id that is in is a repeat, however many others came since") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.max_times_sampled = 2, .id_window = 2});
  for (std::uint64_t i = 0; i < 10; ++i) REQUIRE(Insert(*table, ItemNumber(i)).ok());
  REQUIRE(Insert(*table, ItemNumber(0)).ok());
  REQUIRE(table->size() == 10);
  REQUIRE(table->stats().duplicates_total == 1);
}

TEST_CASE("a table holds the contents of its items until they leave") {
  ContentStore contents({.unused_capacity_bytes = 1 << 20});
  const auto table = MakeTable(contents, {});
  auto item = ItemNumber(1);
  item->keys = ContentKeys({KeyNumber(1)});
  REQUIRE(absl::IsNotFound(table->Insert(item)));
  REQUIRE(contents.Put(EmbeddingNumber(1)).ok());
  REQUIRE(table->Insert(item).ok());
  REQUIRE(contents.unused_bytes() == 0);
  const auto sample = table->Sample();
  REQUIRE(contents.unused_bytes() == 0);
  table->ReleaseSample(*sample);
  REQUIRE(contents.unused_bytes() == contents.bytes());
}

TEST_CASE("options that contradict each other name the knob") {
  ContentStore contents({});
  const auto create = [&contents](TableOptions options) {
    return runtime::Message(Table::Create(std::move(options), contents).status());
  };
  REQUIRE(create({.max_size = 2, .limiter = {.min_size = 3}}).find("min_size") !=
          std::string::npos);
  REQUIRE(create({.max_times_sampled = 1, .limiter = {.samples_per_insert = 2}})
              .find("samples_per_insert") != std::string::npos);
  REQUIRE(create({.max_size = 0}).find("max_size") != std::string::npos);
  REQUIRE(create({.max_times_sampled = 0}).find("no item would ever leave") != std::string::npos);
  REQUIRE(create({.max_times_sampled = 0, .max_staleness = 1}).empty());
  REQUIRE(create({.priority_exponent = -1}).find("priority_exponent") != std::string::npos);
  REQUIRE(create({.priority_exponent = std::nan("")}).find("priority_exponent") !=
          std::string::npos);
}

TEST_CASE("a table below its minimum size gives items while contents in use leave no room") {
  const std::size_t bytes = EmbeddingNumber(0).bytes();
  ContentStore contents({.capacity_bytes = 2 * bytes, .unused_capacity_bytes = 2 * bytes});
  const auto table = MakeTable(contents, {.limiter = {.min_size = 4}});
  auto item = ItemNumber(1);
  item->keys = ContentKeys({KeyNumber(0), KeyNumber(1)});
  for (int i = 0; i < 2; ++i) REQUIRE(contents.Put(EmbeddingNumber(i)).ok());
  REQUIRE(table->Insert(item).ok());
  REQUIRE_FALSE(table->Sample());
  REQUIRE(absl::IsResourceExhausted(contents.Put(EmbeddingNumber(2))));
  const auto sample = table->Sample();
  REQUIRE(sample);
  table->ReleaseSample(*sample);
  REQUIRE(contents.Put(EmbeddingNumber(2)).ok());
}

TEST_CASE(
    "a full table that grows takes items again, and one that shrinks takes none until it may") {
  ContentStore contents({});
  TableOptions options{.max_size = 4};
  const auto table = MakeTable(contents, options);
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(Insert(*table, ItemNumber(i)).ok());
  REQUIRE(table->insert_wait() == Wait::kMaxSize);
  options.max_size = 5;
  REQUIRE(table->Change(options, {}).ok());
  REQUIRE(table->insert_wait() == Wait::kNone);
  options.max_size = 2;
  REQUIRE(table->Change(options, {}).ok());
  REQUIRE(table->size() == 4);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(absl::IsResourceExhausted(Insert(*table, ItemNumber(9))));
    REQUIRE(table->room() == 0);
    REQUIRE(table->Sample());
  }
  REQUIRE(Insert(*table, ItemNumber(9)).ok());
}

TEST_CASE("a table with more bytes than it may hold now pushes back with the reason") {
  ContentStore contents({});
  TableOptions options;
  const auto table = MakeTable(contents, options);
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(Insert(*table, ItemNumber(i)).ok());
  options.max_bytes = 2 * ItemNumber(0)->bytes();
  REQUIRE(table->Change(options, {}).ok());
  REQUIRE(table->size() == 4);
  REQUIRE(table->room() == 0);
  REQUIRE(table->insert_wait() == Wait::kMaxBytes);
  REQUIRE(absl::IsResourceExhausted(Insert(*table, ItemNumber(9))));
}

TEST_CASE("new bounds of use, staleness and age hold for the items that are in") {
  ContentStore contents({});
  TableOptions options{.max_times_sampled = 3};
  const auto table = MakeTable(contents, options);
  const runtime::TimePoint start{std::chrono::seconds(50)};
  table->SetTime(start);
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(Insert(*table, ItemNumber(i, i)).ok());
  REQUIRE(table->Sample());
  options.max_times_sampled = 1;
  REQUIRE(table->Change(options, start).ok());
  REQUIRE(table->TakeEvicted().size() == 1);
  REQUIRE(table->stats().evicted_used_total == 1);

  table->SetCurrentVersion({.epoch = 1, .step = 5}, 0);
  REQUIRE(table->stats().oldest_lag == 4);
  options.max_staleness = 3;
  REQUIRE(table->Change(options, start).ok());
  REQUIRE(table->stats().evicted_stale_total == 1);
  REQUIRE(table->size() == 1);

  options.max_age = std::chrono::seconds(10);
  REQUIRE(table->Change(options, start + std::chrono::seconds(4)).ok());
  table->SetTime(start + std::chrono::seconds(10));
  REQUIRE(table->size() == 1);
  table->SetTime(start + std::chrono::seconds(11));
  REQUIRE(table->size() == 0);
}

TEST_CASE("a table counts for how long the items that it gives have been in it") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.max_times_sampled = 2});
  const runtime::TimePoint start{std::chrono::seconds(50)};
  table->SetTime(start);
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  table->SetTime(start + std::chrono::seconds(3));
  REQUIRE(Insert(*table, ItemNumber(2)).ok());
  REQUIRE(table->Sample());
  REQUIRE(table->stats().sampled_age_us_total == 3'000'000);
  table->SetTime(start + std::chrono::seconds(10));
  REQUIRE(table->Sample());
  REQUIRE(table->Sample());
  REQUIRE(table->stats().sampled_age_us_total == 3'000'000 + 10'000'000 + 7'000'000);
}

TEST_CASE("a change that contradicts itself or a fixed option changes nothing, and names it") {
  ContentStore contents({});
  const TableOptions options{.max_size = 8, .max_times_sampled = 2};
  const auto table = MakeTable(contents, options);
  const auto refused = [&](TableOptions changed, const std::string& named) {
    changed.max_size += 1;
    const absl::Status status = table->Change(changed, {});
    REQUIRE(absl::IsInvalidArgument(status));
    REQUIRE(runtime::Message(status).find(named) != std::string::npos);
    REQUIRE(table->options().max_size == 8);
  };
  TableOptions changed = options;
  changed.sampler = SelectorKind::kLifo;
  refused(changed, "sampler");
  changed = options;
  changed.remover = SelectorKind::kFifo;
  refused(changed, "remover");
  changed = options;
  changed.id_window = 3;
  refused(changed, "id_window");
  changed = options;
  changed.limiter.samples_per_insert = 3;
  refused(changed, "samples_per_insert");
  changed = options;
  changed.max_times_sampled = 0;
  refused(changed, "no item would ever leave");
}

TEST_CASE("with another ratio the credit is what the items that are in may still give") {
  ContentStore contents({});
  TableOptions options{.max_times_sampled = 4,
                       .limiter = {.samples_per_insert = 1, .error_buffer = 1000}};
  const auto table = MakeTable(contents, options);
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(Insert(*table, ItemNumber(i)).ok());
  REQUIRE(table->Sample());
  REQUIRE(table->stats().credit == 20);
  options.limiter.samples_per_insert = 3;
  REQUIRE(table->Change(options, {}).ok());
  // Items of 10 steps: the first may be used twice more, the others three times.
  REQUIRE(table->stats().credit == 80);
  options.max_times_sampled = 0;
  options.max_staleness = 9;
  options.limiter.samples_per_insert = 2;
  REQUIRE(table->Change(options, {}).ok());
  REQUIRE(table->stats().credit == 0);
}

TEST_CASE("a full table whose items may be used more often than they earn goes on for ever") {
  ContentStore contents({});
  const auto table = MakeTable(
      contents, {.max_size = 10,
                 .max_times_sampled = 4,
                 .limiter = {.min_size = 1, .samples_per_insert = 1, .error_buffer = 100}});
  std::uint64_t inserted = 0;
  std::uint64_t sampled = 0;
  while (inserted < 200) {
    if (Insert(*table, ItemNumber(inserted)).ok()) {
      ++inserted;
    } else {
      const auto sample = table->Sample();
      REQUIRE(sample);
      table->ReleaseSample(*sample);
      ++sampled;
    }
  }
  REQUIRE(sampled > 200);
}

}  // namespace
}  // namespace shoal::replay
