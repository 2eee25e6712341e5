// SPDX-License-Identifier: Apache-2.0
#include "inference/service/unroll_chunker.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "replay/client/chunk_reader.h"
#include "tests/inference/core/random_life.h"

namespace shoal::inference {
namespace {

using replay::client::ChunkedItem;
using replay::client::ChunkReader;

const UnrollDestination kTo{.table = "unrolls", .encoder_version = "encoder"};

// The unroll's message with its columns in the order of their names: chunks keep no order among the
// columns that are in them and those that are not.
std::string Sorted(proto::Unroll unroll) {
  std::sort(unroll.mutable_step_columns()->pointer_begin(),
            unroll.mutable_step_columns()->pointer_end(),
            [](const auto* a, const auto* b) { return a->name() < b->name(); });
  return unroll.SerializeAsString();
}

using Identity = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

Identity IdentityOf(const proto::UnrollId& id) {
  return {id.environment_id(), id.incarnation(), id.first_sequence()};
}

// Takes what is ready and compares each with the item that the unroll makes without chunks.
class Comparison {
 public:
  void Expect(const Unroll& unroll) {
    proto::Item whole = HeadOf(unroll, kTo);
    WholeOf(unroll, kTo).SerializeToString(whole.mutable_payload());
    const Identity identity = IdentityOf(whole.id());
    REQUIRE(expected_.emplace(identity, std::move(whole)).second);
  }
  void TakeReady(UnrollChunker& chunker) {
    for (; !chunker.ready().empty(); chunker.ready().pop_front()) {
      Take(chunker.ready().front());
    }
  }
  std::size_t waiting() const { return expected_.size(); }
  std::size_t chunks() const { return seen_.size(); }

 private:
  void Take(const ChunkedItem& item) {
    proto::Unroll unroll;
    REQUIRE(unroll.ParseFromString(item.item.payload()));
    std::vector<const std::string*> keys;
    for (std::size_t i = 0; i < item.chunks.size(); ++i) {
      keys.push_back(&item.item.chunk_keys(static_cast<int>(i)));
      REQUIRE(reader_.Add(proto::Chunk(*item.chunks[i])).ok());
      seen_.insert(item.chunks[i]->key());
    }
    REQUIRE(reader_.Restore(keys, unroll).ok());
    const auto found = expected_.find(IdentityOf(item.item.id()));
    REQUIRE(found != expected_.end());
    proto::Unroll whole;
    REQUIRE(whole.ParseFromString(found->second.payload()));
    REQUIRE(Sorted(unroll) == Sorted(whole));
    proto::Item head = item.item;
    head.clear_payload();
    head.clear_chunk_keys();
    found->second.clear_payload();
    found->second.set_signature("signature");
    REQUIRE(head.SerializeAsString() == found->second.SerializeAsString());
    expected_.erase(found);
  }

  ChunkReader reader_{{}};
  std::map<Identity, proto::Item> expected_;
  std::set<std::string> seen_;
};

TEST_CASE("unrolls that overlap come back from chunks as they are without, whatever happens") {
  const PolicyShape shape = testing::RichShape();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    runtime::Random random(seed);
    UnrollCut cut{.by_episode = random.Below(3) == 0, .max_rows = 2 + random.Below(12)};
    cut.overlap = random.Below(cut.max_rows);
    runtime::Metrics metrics;
    UnrollChunker chunker({.to = kTo,
                           .chunk_rows = random.Below(2) == 0 ? 0 : 1 + random.Below(9),
                           .unroll_rows = cut.max_rows + 1,
                           .compression_level = static_cast<int>(random.Below(3)),
                           .ends_chunks = random.Below(3) == 0,
                           .max_environments = 1 + random.Below(3)},
                          metrics);
    std::vector<testing::RandomLife> lives;
    std::vector<UnrollBuilder> builders;
    for (std::uint64_t environment = 0; environment < 3; ++environment) {
      lives.emplace_back(environment, 100 * seed + environment);
      builders.emplace_back(shape, cut);
    }
    Comparison comparison;
    for (int step = 0; step < 600; ++step) {
      const auto who = static_cast<std::size_t>(random.Below(3));
      for (const auto& event : lives[who].Next()) {
        const auto unroll = testing::RandomLife::Tell(builders[who], event);
        // Some are lost on their way, as when a server refuses one.
        if (!unroll || random.Below(20) == 0) continue;
        comparison.Expect(*unroll);
        REQUIRE(chunker.Add(*unroll, "signature").ok());
        comparison.TakeReady(chunker);
      }
    }
    chunker.Flush();
    comparison.TakeReady(chunker);
    REQUIRE(comparison.waiting() == 0);
    REQUIRE(comparison.chunks() > 5);
  }
}

TEST_CASE("an item waits for its chunk, and for nothing where each unroll ends one") {
  const PolicyShape shape = testing::RichShape();
  for (const bool ends_chunks : {false, true}) {
    runtime::Metrics metrics;
    UnrollChunker chunker({.to = kTo,
                           .chunk_rows = 100,
                           .unroll_rows = 5,
                           .ends_chunks = ends_chunks,
                           .max_environments = 1},
                          metrics);
    UnrollBuilder builder(shape, {.max_rows = 4, .overlap = 2});
    UnrollBuilder other_builder(shape, {.max_rows = 4, .overlap = 2});
    testing::RandomLife life(1, 1);
    testing::RandomLife other(2, 1);
    const auto add_one = [&chunker](testing::RandomLife& who, UnrollBuilder& with) {
      for (;;) {
        for (const auto& event : who.Next()) {
          const auto unroll = testing::RandomLife::Tell(with, event);
          if (!unroll) continue;
          REQUIRE(chunker.Add(*unroll, "signature").ok());
          return;
        }
      }
    };
    add_one(life, builder);
    REQUIRE(chunker.ready().size() == (ends_chunks ? 1 : 0));
    // There is room for one environment only, so the first one's item waits no longer.
    add_one(other, other_builder);
    REQUIRE(chunker.ready().size() == (ends_chunks ? 2 : 1));
    chunker.Flush();
    REQUIRE(chunker.ready().size() == 2);
    for (const char* const name : {"plain_bytes_total", "bytes_total", "bytes_left"}) {
      REQUIRE(metrics.Text().find("shoal_inference_chunk_" + std::string(name) +
                                  "{table=\"unrolls\"} ") != std::string::npos);
    }
  }
}

}  // namespace
}  // namespace shoal::inference
