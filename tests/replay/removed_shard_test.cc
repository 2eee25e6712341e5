// SPDX-License-Identifier: Apache-2.0
// Inserters of a shard that is taken from the list of addresses.
#include <google/protobuf/message_lite.h>

#include <catch2/catch.hpp>
#include <latch>
#include <string>
#include <utility>

#include "platform/runtime/metrics.h"
#include "platform/runtime/thread.h"
#include "replay/client/inserter.h"
#include "replay/outgoing.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/replay/loopback_clients.h"
#include "tests/replay/messages.h"
#include "tests/replay/shard_server.h"

namespace shoal::replay {
namespace {

// An unroll whose serialisation lasts until the test lets it end.
class SlowUnroll final : public google::protobuf::MessageLite {
 public:
  explicit SlowUnroll(proto::Unroll unroll) : unroll_(std::move(unroll)) {}

  bool HasBegun() const { return begun_.try_wait(); }
  void End() { end_.count_down(); }

  std::string GetTypeName() const override { return unroll_.GetTypeName(); }
  MessageLite* New(google::protobuf::Arena* arena) const override { return unroll_.New(arena); }
  void Clear() override { unroll_.Clear(); }
  bool IsInitialized() const override { return true; }
  void CheckTypeAndMergeFrom(const MessageLite& other) override {
    unroll_.CheckTypeAndMergeFrom(other);
  }
  std::size_t ByteSizeLong() const override { return unroll_.ByteSizeLong(); }
  int GetCachedSize() const override { return unroll_.GetCachedSize(); }
  std::uint8_t* _InternalSerialize(
      std::uint8_t* to, google::protobuf::io::EpsCopyOutputStream* stream) const override {
    begun_.count_down();
    end_.wait();
    return unroll_._InternalSerialize(to, stream);
  }

 private:
  proto::Unroll unroll_;
  mutable std::latch begun_{1};
  mutable std::latch end_{1};
};

TEST_CASE("a removed shard still gets the item that was being serialised for it") {
  const doubles::TemporaryFolder folder;
  ShardServer removed;
  ShardServer stays;
  const std::string file =
      folder.Write("shards", removed.address() + "\n" + stays.address() + "\n");
  runtime::Metrics metrics;
  FakeProvider provider;
  const auto inserter =
      *client::Inserter::Create({.address_file = file, .client = "test"}, provider, metrics);
  const auto live_shards = [&] { return inserter->stats().live_shards; };
  REQUIRE(doubles::Eventually([&] { return live_shards() == 2; }));
  // The first item goes to the first shard.
  SlowUnroll unroll(UnrollOf(1, kReferencedBytes));
  absl::Status status;
  runtime::Thread thread("slow", [&] {
    proto::Item item = ItemOf(1);
    item.clear_payload();
    status = inserter->TryInsert(std::move(item), unroll);
  });
  const bool has_begun = doubles::Eventually([&] { return unroll.HasBegun(); });
  folder.Write("shards", stays.address() + "\n");
  const bool is_removed = doubles::Eventually([&] { return live_shards() == 1; });
  // Once this one is acknowledged, the inserter has looked at both shards since then.
  const absl::Status other = inserter->TryInsert(ItemOf(2));
  const bool acknowledged =
      doubles::Eventually([&] { return inserter->stats().acknowledged_total == 1; });
  unroll.End();
  thread.Join();
  REQUIRE(has_begun);
  REQUIRE(is_removed);
  REQUIRE(other.ok());
  REQUIRE(acknowledged);
  REQUIRE(status.ok());
  REQUIRE(inserter->Drain(kPatience).ok());
  REQUIRE(inserter->stats().acknowledged_total == 2);
  REQUIRE(inserter->stats().dropped_total == 0);
  REQUIRE(removed.shard().stats().tables[0].inserted_total == 1);
  REQUIRE(stays.shard().stats().tables[0].inserted_total == 1);
}

}  // namespace
}  // namespace shoal::replay
