// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/address_list.h"

#include <catch2/catch.hpp>

#include "tests/doubles/temporary_folder.h"

namespace shoal::transport {
namespace {

using Addresses = std::vector<std::string>;

constexpr std::chrono::seconds kInterval(1);

TEST_CASE("without a file the addresses never change") {
  auto list = AddressList::Create({"a:1", "b:2"}, "", "replay shard");
  REQUIRE(list.ok());
  REQUIRE_FALSE(list->Refresh(runtime::TimePoint{} + kInterval));
  REQUIRE(list->addresses() == Addresses{"a:1", "b:2"});
}

TEST_CASE("a file of addresses stands in place of others and is read again each second") {
  const doubles::TemporaryFolder folder;
  const std::string file = folder.Write("shards", "# ours\na:1\n\nunix:/tmp/b\r\n");
  auto list = AddressList::Create({"c:3"}, file, "replay shard");
  REQUIRE(list.ok());
  REQUIRE(list->addresses() == Addresses{"a:1", "unix:/tmp/b"});
  const runtime::TimePoint start{std::chrono::hours(1)};
  REQUIRE_FALSE(list->Refresh(start));
  folder.Write("shards", "a:1\nd:4\n");
  REQUIRE_FALSE(list->Refresh(start + kInterval / 2));
  REQUIRE(list->Refresh(start + kInterval));
  REQUIRE(list->addresses() == Addresses{"a:1", "d:4"});
  REQUIRE_FALSE(list->Refresh(start + 2 * kInterval));
}

TEST_CASE("a shard keeps its number when others come and go, and when it is named again") {
  const doubles::TemporaryFolder folder;
  const std::string file = folder.Write("shards", "a:1\nb:2\n");
  auto list = AddressList::Create({}, file, "replay shard");
  REQUIRE(list.ok());
  REQUIRE(list->ever_named() == Addresses{"a:1", "b:2"});
  runtime::TimePoint now{std::chrono::hours(1)};
  folder.Write("shards", "d:4\nb:2\nc:3\n");
  REQUIRE(list->Refresh(now += kInterval));
  REQUIRE(list->ever_named() == Addresses{"a:1", "b:2", "d:4", "c:3"});
  REQUIRE_FALSE(list->Names(0));
  REQUIRE(list->Names(1));
  folder.Write("shards", "a:1\n");
  REQUIRE(list->Refresh(now += kInterval));
  REQUIRE(list->ever_named().size() == 4);
  REQUIRE(list->Names(0));
  REQUIRE_FALSE(list->Names(3));
}

TEST_CASE("a file that is damaged or gone leaves the addresses as they were") {
  const doubles::TemporaryFolder folder;
  const std::string file = folder.Write("shards", "a:1");
  auto list = AddressList::Create({}, file, "replay shard");
  REQUIRE(list.ok());
  runtime::TimePoint now{std::chrono::hours(1)};
  for (const char* text : {"", "# none\n", "a:1\na:1\n", "a:1\nb\n", "a:1\nb :2\n", ":1", "a:"}) {
    folder.Write("shards", text);
    REQUIRE_FALSE(list->Refresh(now += kInterval));
    REQUIRE(absl::IsInvalidArgument(AddressList::Create({}, file, "replay shard").status()));
  }
  std::filesystem::remove(file);
  REQUIRE_FALSE(list->Refresh(now += kInterval));
  REQUIRE(list->addresses() == Addresses{"a:1"});
  REQUIRE(absl::IsNotFound(AddressList::Create({}, file, "replay shard").status()));
}

}  // namespace
}  // namespace shoal::transport
