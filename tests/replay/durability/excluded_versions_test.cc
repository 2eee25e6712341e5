// SPDX-License-Identifier: Apache-2.0
// Versions that a durable shard's tables have excluded.
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "replay/durability/disk_journal.h"
#include "replay/shard.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/replay/durability/durable_shard.h"
#include "tests/replay/durability/lossy_env.h"
#include "tests/replay/values.h"

namespace shoal::replay::durability {
namespace {

using doubles::Eventually;
using doubles::TemporaryFolder;

TEST_CASE("items of excluded versions leave and are refused, after a restart too") {
  const TemporaryFolder folder;
  LossyEnv env;
  auto shard = MustOpen(folder.path(), {Always()}, &env);
  for (std::uint64_t i = 1; i <= 6; ++i) {
    auto item = ItemNumber(i, i);
    REQUIRE(shard->Insert("unrolls", item).ok());
  }
  REQUIRE(absl::IsInvalidArgument(shard->Exclude({.first = {1, 3}, .last = {1, 2}}).status()));
  REQUIRE(*shard->Exclude({.first = {1, 2}, .last = {1, 4}}) == 3);
  // Epochs may be far apart.
  REQUIRE(*shard->Exclude({.first = {3, 7}, .last = {1'800'000'000'000, 9}}) == 0);
  std::promise<absl::Status> durable;
  shard->WhenDurable([&durable](const absl::Status& status) { durable.set_value(status); });
  REQUIRE(durable.get_future().get().ok());
  env.Die();
  shard.reset();
  env.Revive();
  shard = MustOpen(folder.path(), {Always()}, &env);
  REQUIRE(shard->stats().tables[0].evicted_excluded_total == 3);
  const auto insert = [&shard](std::uint64_t number, std::uint64_t oldest, std::uint64_t newest) {
    auto item = ItemNumber(number, oldest);
    item->newest_version.step = newest;
    return shard->Insert("unrolls", item);
  };
  const absl::Status refused = insert(10, 1, 2);
  REQUIRE(absl::IsFailedPrecondition(refused));
  REQUIRE(runtime::Message(refused).find("versions 1.2 to 1.4 are excluded") != std::string::npos);
  REQUIRE(absl::IsFailedPrecondition(insert(11, 0, 9)));
  REQUIRE(absl::IsFailedPrecondition(insert(12, 4, 5)));
  REQUIRE(insert(13, 0, 1).ok());
  REQUIRE(insert(14, 5, 6).ok());
  REQUIRE(shard->stats().tables[0].size == 5);
  const auto insert_of = [&shard](std::uint64_t number, const PolicyVersion& version) {
    auto item = ItemNumber(number, 0);
    item->oldest_version = item->newest_version = version;
    return shard->Insert("unrolls", item);
  };
  REQUIRE(insert_of(20, {3, 6}).ok());
  REQUIRE(absl::IsFailedPrecondition(insert_of(21, {3, 7})));
  REQUIRE(absl::IsFailedPrecondition(insert_of(22, {900, 1})));
  REQUIRE(absl::IsFailedPrecondition(insert_of(23, {1'800'000'000'000, 9})));
  REQUIRE(insert_of(24, {1'800'000'000'000, 10}).ok());
}

TEST_CASE("a range that one table cannot exclude any more is excluded by none") {
  const TemporaryFolder folder;
  TableOptions forgets;
  forgets.name = "forgets";
  const std::vector<TableOptions> tables = {forgets, Always()};
  auto shard = MustOpen(folder.path(), tables);
  for (std::uint64_t i = 0; i < 1024; ++i) {
    REQUIRE(shard->Exclude({.first = {1, 2 * i}, .last = {1, 2 * i}}).ok());
  }
  shard.reset();
  shard = MustOpen(folder.path(), tables);
  auto item = ItemNumber(1, 5000);
  REQUIRE(shard->Insert("forgets", item).ok());
  const VersionRange another{.first = {1, 5000}, .last = {1, 5000}};
  REQUIRE(absl::IsResourceExhausted(shard->Exclude(another).status()));
  REQUIRE(shard->stats().tables[0].size == 1);
  auto next = ItemNumber(2, 5000);
  REQUIRE(shard->Insert("forgets", next).ok());
}

}  // namespace
}  // namespace shoal::replay::durability
