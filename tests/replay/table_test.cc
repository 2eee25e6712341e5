// SPDX-License-Identifier: Apache-2.0
#include "replay/table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <set>

#include "platform/runtime/random.h"
#include "replay/selectors/fifo.h"
#include "tests/replay/values.h"

namespace shoal::replay {
namespace {

std::unique_ptr<Table> MakeTable(ContentStore& contents, TableOptions options) {
  auto table = Table::Create(std::move(options), std::make_unique<Fifo>(), contents);
  REQUIRE(table.ok());
  return *std::move(table);
}

absl::Status Insert(Table& table, std::unique_ptr<Item> item) { return table.Insert(item); }

TEST_CASE("a table gives items oldest first, each as often as it may, and then no more") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.max_times_sampled = 2});
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(Insert(*table, ItemNumber(i)).ok());
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (std::uint32_t time = 1; time <= 2; ++time) {
      const auto sample = table->Draw();
      REQUIRE(sample);
      REQUIRE(sample->item->id.environment_id == i);
      REQUIRE(sample->times_sampled == time);
      REQUIRE(sample->last == (time == 2));
      REQUIRE(sample->table_size == 3 - i);
      table->Collected(*sample);
    }
  }
  REQUIRE_FALSE(table->Draw());
  REQUIRE(table->stats().bytes == 0);
}

TEST_CASE("an id seen before is taken and stored no second time, even after it left") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {});
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  REQUIRE(table->size() == 1);
  REQUIRE(table->Draw());
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  REQUIRE_FALSE(table->Draw());
  REQUIRE(table->stats().duplicates_total == 2);
}

TEST_CASE("a full table pushes back, keeps the item with the caller, and takes it later") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.capacity_items = 1});
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  auto item = ItemNumber(2);
  REQUIRE(absl::IsResourceExhausted(table->Insert(item)));
  REQUIRE(item);
  REQUIRE(table->room() == 0);
  REQUIRE(table->Draw());
  REQUIRE(table->room() == 1);
  REQUIRE(table->Insert(item).ok());
  REQUIRE_FALSE(item);
  REQUIRE(table->stats().full_items_total == 1);
}

TEST_CASE("bytes bound a table too, and open it for samples below its minimum size") {
  ContentStore contents({});
  const std::size_t bytes = ItemNumber(1)->bytes();
  const auto table =
      MakeTable(contents, {.capacity_bytes = 2 * bytes + bytes / 2, .limiter = {.min_size = 4}});
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  REQUIRE_FALSE(table->Draw());
  REQUIRE(Insert(*table, ItemNumber(2)).ok());
  REQUIRE(absl::IsResourceExhausted(Insert(*table, ItemNumber(3))));
  REQUIRE(table->Draw());
  REQUIRE_FALSE(table->Draw());
  REQUIRE(absl::IsInvalidArgument(Insert(*table, ItemNumber(4, 0, 3 * bytes))));
  REQUIRE(table->stats().full_bytes_total == 1);
}

TEST_CASE("a table below its minimum size gives nothing") {
  ContentStore contents({});
  const auto table = MakeTable(contents, {.limiter = {.min_size = 2}});
  REQUIRE(Insert(*table, ItemNumber(1)).ok());
  REQUIRE_FALSE(table->Draw());
  REQUIRE(table->stats().below_min_size_total == 1);
  REQUIRE(Insert(*table, ItemNumber(2)).ok());
  REQUIRE(table->Draw());
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
  std::vector<std::shared_ptr<Item>> evicted;
  table->SetCurrentVersion({.epoch = 1, .step = 3}, 2, evicted);
  REQUIRE(evicted.size() == 1);
  REQUIRE(evicted[0]->oldest_version.step == 0);
  REQUIRE(table->stats().credit == 10);
  REQUIRE(Insert(*table, ItemNumber(9, 0)).ok());
  REQUIRE(table->size() == 1);
  table->SetCurrentVersion({.epoch = 1, .step = 1}, 2, evicted);
  table->SetCurrentVersion({.epoch = 2, .step = 0}, 2, evicted);
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

TEST_CASE("a table holds the contents of its items until they leave") {
  ContentStore contents({.unused_capacity_bytes = 1 << 20});
  const auto table = MakeTable(contents, {});
  auto item = ItemNumber(1);
  item->content_keys = {KeyNumber(1)};
  REQUIRE(absl::IsNotFound(table->Insert(item)));
  REQUIRE(contents.Put(EmbeddingNumber(1)).ok());
  REQUIRE(table->Insert(item).ok());
  REQUIRE(contents.unused_bytes() == 0);
  const auto sample = table->Draw();
  REQUIRE(contents.unused_bytes() == 0);
  table->Collected(*sample);
  REQUIRE(contents.unused_bytes() == contents.bytes());
}

TEST_CASE("options that contradict each other name the knob") {
  ContentStore contents({});
  const auto create = [&contents](TableOptions options) {
    return runtime::Message(
        Table::Create(std::move(options), std::make_unique<Fifo>(), contents).status());
  };
  REQUIRE(create({.capacity_items = 2, .limiter = {.min_size = 3}}).find("min_size") !=
          std::string::npos);
  REQUIRE(create({.max_times_sampled = 1, .limiter = {.samples_per_insert = 2}})
              .find("samples_per_insert") != std::string::npos);
  REQUIRE(create({.capacity_items = 0}).find("capacity_items") != std::string::npos);
}

// The same rules, written down as plainly as can be.
struct Model {
  struct Held {
    Item item;
    std::uint32_t times = 0;
  };

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Held& held : items) sum += held.item.bytes();
    return sum;
  }
  void Leave(std::size_t at) {
    credit -=
        std::max(0.0, options.limiter.samples_per_insert - items[at].times) * items[at].item.steps;
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  }
  absl::StatusCode Insert(const Item& item) {
    if (seen.contains(item.id)) return absl::StatusCode::kOk;
    if (IsStale(item.oldest_version, current, max_lag)) {
      seen.insert(item.id);
      return absl::StatusCode::kOk;
    }
    const bool ahead = options.limiter.samples_per_insert > 0 &&
                       items.size() >= options.limiter.min_size &&
                       credit > options.limiter.error_buffer;
    if (items.size() >= options.capacity_items || ahead)
      return absl::StatusCode::kResourceExhausted;
    seen.insert(item.id);
    credit += options.limiter.samples_per_insert * item.steps;
    items.push_back({.item = item});
    return absl::StatusCode::kOk;
  }
  std::optional<UnrollId> Draw() {
    if (items.size() < options.limiter.min_size) return std::nullopt;
    if (credit < -options.limiter.error_buffer) return std::nullopt;
    Held& first = items.front();
    const UnrollId id = first.item.id;
    credit -= first.item.steps;
    if (++first.times == options.max_times_sampled) Leave(0);
    return id;
  }
  void SetCurrentVersion(const PolicyVersion& version) {
    if (version < current) return;
    current = version;
    for (std::size_t i = items.size(); i-- > 0;) {
      if (IsStale(items[i].item.oldest_version, current, max_lag)) Leave(i);
    }
  }

  TableOptions options;
  std::deque<Held> items;
  std::set<UnrollId> seen;
  PolicyVersion current;
  std::uint32_t max_lag = 0;
  double credit = 0;
};

TEST_CASE("a table does what a plain model does, whatever comes") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    runtime::Random random(seed);
    Model model;
    model.options.capacity_items = 1 + random.Below(12);
    model.options.max_times_sampled = static_cast<std::uint32_t>(1 + random.Below(3));
    model.options.limiter.min_size = 1 + random.Below(model.options.capacity_items);
    model.options.limiter.samples_per_insert =
        static_cast<double>(1 + random.Below(model.options.max_times_sampled));
    model.options.limiter.error_buffer = static_cast<double>(random.Below(60));
    ContentStore contents({.unused_capacity_bytes = 0});
    const auto table = MakeTable(contents, model.options);
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t choice = random.Below(8);
      if (choice < 4) {
        auto item = ItemNumber(random.Below(1500), model.current.step + random.Below(2));
        item->oldest_version.epoch = model.current.epoch;
        item->oldest_version.step -= std::min(item->oldest_version.step, random.Below(6));
        item->steps = static_cast<std::uint32_t>(1 + random.Below(20));
        const Item copy = *item;
        REQUIRE(table->Insert(item).code() == model.Insert(copy));
      } else if (choice < 7) {
        const auto sample = table->Draw();
        const auto expected = model.Draw();
        REQUIRE(sample.has_value() == expected.has_value());
        if (sample) REQUIRE(sample->item->id == *expected);
        if (sample) table->Collected(*sample);
      } else {
        const bool new_epoch = random.Below(40) == 0;
        const PolicyVersion next{.epoch = model.current.epoch + (new_epoch ? 1 : 0),
                                 .step = new_epoch ? 0 : model.current.step + random.Below(2)};
        model.max_lag = 3;
        std::vector<std::shared_ptr<Item>> evicted;
        table->SetCurrentVersion(next, 3, evicted);
        model.SetCurrentVersion(next);
      }
      REQUIRE(table->size() == model.items.size());
      REQUIRE(table->stats().bytes == model.bytes());
      REQUIRE(table->stats().credit == Approx(model.credit).margin(1e-6));
    }
  }
}

}  // namespace
}  // namespace shoal::replay
