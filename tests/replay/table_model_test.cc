// SPDX-License-Identifier: Apache-2.0
// Tables against a plain model of their rules.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <memory>
#include <set>

#include "platform/runtime/random.h"
#include "replay/table.h"
#include "tests/replay/selectors/plain_rule.h"
#include "tests/replay/values.h"

namespace shoal::replay {
namespace {

// A plain model of the same rules. The model is told what a selector chose at random, and checks
// only whether the choice was allowed.
struct Model {
  struct Held {
    Item item;
    runtime::TimePoint came;
    std::uint32_t times = 0;
  };

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Held& held : items) sum += held.item.bytes();
    return sum;
  }
  std::size_t Find(const UnrollId& id) const {
    std::size_t at = 0;
    while (at < items.size() && items[at].item.id != id) ++at;
    return at;
  }
  void Leave(std::size_t at) {
    if (options.max_times_sampled > 0) {
      credit -= std::max(0.0, options.limiter.samples_per_insert - items[at].times) *
                items[at].item.steps;
    }
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    out_of_bytes = false;
  }
  // Lets all items leave of which this is true.
  template <typename Condition>
  void LeaveIf(const Condition& condition) {
    for (std::size_t i = items.size(); i-- > 0;) {
      if (condition(items[i])) Leave(i);
    }
  }
  // The table has evicted these items for room, one after another.
  void LeaveForRoom(const std::vector<std::shared_ptr<Item>>& evicted) {
    for (const auto& item : evicted) {
      REQUIRE(Probability(*options.remover, item->id) > 0);
      Leave(Find(item->id));
    }
  }
  // Returns the probability with which a selector of `kind` must choose this item now.
  double Probability(SelectorKind kind, const UnrollId& chosen) const {
    std::vector<double> priorities;
    for (const Held& held : items) priorities.push_back(held.item.priority);
    return PlainProbabilities(kind, priorities, options.priority_exponent).at(Find(chosen));
  }
  bool Ahead() const {
    return options.limiter.samples_per_insert > 0 && !items.empty() &&
           items.size() >= options.limiter.min_size && credit > options.limiter.error_buffer;
  }
  bool HasRoomFor(std::size_t more) const {
    return items.size() < options.max_size && bytes() + more <= options.max_bytes;
  }
  // Whether what is in is what the options allow.
  bool Fits() const { return items.size() <= options.max_size && bytes() <= options.max_bytes; }
  absl::StatusCode Insert(const Item& item, const std::vector<std::shared_ptr<Item>>& evicted) {
    if (seen.contains(item.id)) return absl::StatusCode::kOk;
    if (IsStale(item.oldest_version, current, max_lag)) {
      seen.insert(item.id);
      return absl::StatusCode::kOk;
    }
    if (Excluded(item)) return absl::StatusCode::kFailedPrecondition;
    if (item.bytes() > options.max_bytes) return absl::StatusCode::kInvalidArgument;
    if (!options.remover && !HasRoomFor(item.bytes())) {
      out_of_bytes = out_of_bytes || items.size() < options.max_size;
      return absl::StatusCode::kResourceExhausted;
    }
    if (Ahead()) return absl::StatusCode::kResourceExhausted;
    // No item leaves for room once there is enough.
    if (!evicted.empty()) {
      LeaveForRoom({evicted.begin(), evicted.end() - 1});
      REQUIRE_FALSE(HasRoomFor(item.bytes()));
      LeaveForRoom({evicted.end() - 1, evicted.end()});
    }
    REQUIRE(HasRoomFor(item.bytes()));
    seen.insert(item.id);
    credit += options.limiter.samples_per_insert * item.steps;
    items.push_back({.item = item, .came = now});
    return absl::StatusCode::kOk;
  }
  bool Excluded(const Item& item) const {
    return std::ranges::any_of(excluded, [&item](const VersionRange& range) {
      return range.Touches(item.oldest_version, item.newest_version);
    });
  }
  void Exclude(const VersionRange& range) {
    excluded.push_back(range);
    LeaveIf([this](const Held& held) { return Excluded(held.item); });
  }
  // Items or bytes keep inserts out, where nothing makes room.
  bool Full() const {
    if (options.remover || items.empty()) return false;
    const std::size_t mean = std::max<std::size_t>(1, bytes() / items.size());
    return out_of_bytes || !HasRoomFor(mean);
  }
  bool MaySample() const {
    if (items.empty()) return false;
    if (Full()) return true;
    if (items.size() < options.limiter.min_size) return false;
    return options.limiter.samples_per_insert <= 0 || credit >= -options.limiter.error_buffer;
  }
  void Sampled(const SampledItem& sample) {
    const std::size_t at = Find(sample.item->id);
    REQUIRE(sample.probability > 0);
    REQUIRE(sample.probability == Approx(Probability(options.sampler, sample.item->id)));
    REQUIRE(sample.table_size == items.size());
    REQUIRE(sample.priority == items[at].item.priority);
    if (options.limiter.samples_per_insert > 0) credit -= items[at].item.steps;
    REQUIRE(sample.times_sampled == ++items[at].times);
    const bool last = items[at].times == options.max_times_sampled;
    REQUIRE(sample.last == last);
    if (last) Leave(at);
  }
  void SetCurrentVersion(const PolicyVersion& version) {
    if (version < current) return;
    current = version;
    LeaveIf(
        [this](const Held& held) { return IsStale(held.item.oldest_version, current, max_lag); });
  }
  void SetTime(runtime::TimePoint time) {
    now = time;
    if (options.max_age == runtime::Duration::zero()) return;
    LeaveIf([this](const Held& held) { return now - held.came > options.max_age; });
  }

  TableOptions options;
  std::deque<Held> items;
  std::set<UnrollId> seen;
  // The table's options become `next`. Evictions by the remover follow with Leave.
  void Change(const TableOptions& next) {
    if (next.limiter.samples_per_insert != options.limiter.samples_per_insert) {
      credit = 0;
      for (const Held& held : items) {
        if (next.max_times_sampled == 0) break;
        credit += std::max(0.0, next.limiter.samples_per_insert - held.times) * held.item.steps;
      }
    }
    options = next;
    LeaveIf([this](const Held& held) {
      return options.max_times_sampled > 0 && held.times >= options.max_times_sampled;
    });
    SetTime(now);
    out_of_bytes = false;
  }

  PolicyVersion current;
  std::uint32_t max_lag = 0;
  double credit = 0;
  runtime::TimePoint now{};
  std::vector<VersionRange> excluded;
  // The last insert found too few bytes, and nothing has left since.
  bool out_of_bytes = false;
};

constexpr std::uint32_t kMaxLag = 3;

TableOptions RandomOptions(runtime::Random& random) {
  const auto kind = [&random] {
    return static_cast<SelectorKind>(random.Below(SelectorNames().size()));
  };
  TableOptions options;
  options.sampler = kind();
  if (random.Below(2) == 0) options.remover = kind();
  options.max_size = 1 + random.Below(12);
  // Between no item and more than fit by number.
  if (random.Below(2) == 0) options.max_bytes = 500 + random.Below(12000);
  if (random.Below(3) == 0) options.max_age = std::chrono::seconds(1 + random.Below(30));
  options.max_times_sampled = static_cast<std::uint32_t>(random.Below(5));
  options.limiter.min_size = random.Below(options.max_size + 1);
  const std::uint64_t most = options.max_times_sampled == 0 ? 4 : options.max_times_sampled;
  options.limiter.samples_per_insert = static_cast<double>(random.Below(most + 1));
  options.limiter.error_buffer = static_cast<double>(random.Below(60));
  options.priority_exponent = static_cast<double>(random.Below(4)) / 2;
  // Something has to make items leave. It is the lag that the sampling stream asks for as well.
  if (!options.remover && options.max_times_sampled == 0) options.max_staleness = kMaxLag;
  options.seed = random();
  return options;
}

// Other bounds and another limiter for the same selectors, sound most of the time.
TableOptions Changed(const TableOptions& options, runtime::Random& random) {
  TableOptions next = RandomOptions(random);
  next.name = options.name;
  next.sampler = options.sampler;
  next.remover = options.remover;
  next.priority_exponent = options.priority_exponent;
  next.seed = options.seed;
  return next;
}

TEST_CASE("a table does what a plain model does, whatever comes and whatever is changed") {
  for (std::uint64_t seed = 0; seed < 350; ++seed) {
    runtime::Random random(seed);
    Model model;
    model.options = RandomOptions(random);
    ContentStore contents({.unused_capacity_bytes = 0});
    auto made = Table::Create(model.options, contents);
    REQUIRE(made.ok());
    const std::unique_ptr<Table> table = *std::move(made);
    for (int i = 0; i < 3000; ++i) {
      if (random.Below(200) == 0) {
        const TableOptions next = Changed(table->options(), random);
        if (table->Change(next, model.now).ok()) {
          model.Change(next);
          for (const auto& evicted : table->TakeEvicted()) {
            if (model.Find(evicted->id) == model.items.size()) continue;
            REQUIRE_FALSE(model.Fits());
            model.LeaveForRoom({evicted});
          }
          REQUIRE((!next.remover || model.Fits()));
        }
      }
      if (random.Below(8) == 0) {
        const runtime::TimePoint now = model.now + std::chrono::seconds(random.Below(4));
        table->SetTime(now);
        table->TakeEvicted();
        model.SetTime(now);
      }
      if (random.Below(300) == 0) {
        const std::uint64_t last = model.current.step + random.Below(3);
        const VersionRange range{
            .first = {.epoch = model.current.epoch, .step = last - std::min(last, random.Below(3))},
            .last = {.epoch = model.current.epoch, .step = last}};
        REQUIRE(table->CheckExclude(range).ok());
        table->Exclude(range);
        table->TakeEvicted();
        model.Exclude(range);
      }
      const std::uint64_t choice = random.Below(9);
      if (choice < 4) {
        auto item =
            ItemNumber(random.Below(1500), model.current.step + random.Below(2), random.Below(600));
        item->oldest_version.epoch = item->newest_version.epoch = model.current.epoch;
        item->oldest_version.step -= std::min(item->oldest_version.step, random.Below(6));
        item->steps = static_cast<std::uint32_t>(1 + random.Below(20));
        item->priority = static_cast<float>(random.Uniform());
        const Item copy = *item;
        const absl::StatusCode code = table->Insert(item).code();
        REQUIRE(code == model.Insert(copy, table->TakeEvicted()));
      } else if (choice < 7) {
        const auto sample = table->Sample();
        REQUIRE(sample.has_value() == model.MaySample());
        if (sample) model.Sampled(*sample);
        if (sample) table->ReleaseSample(*sample);
      } else if (choice < 8) {
        const UnrollId id = ItemNumber(random.Below(1500))->id;
        const auto priority = static_cast<float>(random.Uniform());
        const std::size_t at = model.Find(id);
        REQUIRE(table->Update(id, priority).ok() == (at < model.items.size()));
        if (at < model.items.size()) model.items[at].item.priority = priority;
      } else {
        const bool new_epoch = random.Below(40) == 0;
        const PolicyVersion next{.epoch = model.current.epoch + (new_epoch ? 1 : 0),
                                 .step = new_epoch ? 0 : model.current.step + random.Below(2)};
        model.max_lag = kMaxLag;
        table->SetCurrentVersion(next, kMaxLag);
        table->TakeEvicted();
        model.SetCurrentVersion(next);
      }
      REQUIRE(table->size() == model.items.size());
      REQUIRE(table->stats().bytes == model.bytes());
      REQUIRE(table->stats().credit == Approx(model.credit).margin(1e-6));
      // Whoever wants to insert or to sample: one of them can.
      REQUIRE((table->insert_wait() == Wait::kNone || table->sample_wait() == Wait::kNone));
    }
  }
}

}  // namespace
}  // namespace shoal::replay
