// SPDX-License-Identifier: Apache-2.0
#include "replay/client/chunk_writer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <set>

#include "replay/shard.h"
#include "replay/wire.h"
#include "tests/replay/client/trajectory.h"

namespace shoal::replay::client {
namespace {

std::size_t ChunkBytes(const std::set<std::shared_ptr<const proto::Chunk>>& chunks) {
  std::size_t bytes = 0;
  for (const auto& chunk : chunks) bytes += chunk->data().size();
  return bytes;
}

TEST_CASE("unrolls of random rows, lengths and overlaps come back byte for byte") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    runtime::Random random(seed);
    const auto total = static_cast<std::int64_t>(2 + random.Below(200));
    const Trajectory trajectory(total, random);
    const std::size_t item_rows = 1 + random.Below(40);
    ChunkEncoder encoder(static_cast<int>(random.Below(4)));
    ChunkWriter writer(
        {.chunk_rows = random.Below(2) == 0 ? 0 : 1 + random.Below(50), .item_rows = item_rows},
        encoder);
    ChunkReader reader({});
    std::deque<proto::Unroll> expected;
    const auto read_all = [&] {
      for (const ChunkedItem& item : writer.TakeReady()) {
        const auto unroll = Read(reader, item);
        REQUIRE(unroll.ok());
        REQUIRE(unroll->SerializeAsString() == expected.front().SerializeAsString());
        expected.pop_front();
      }
    };
    std::uint64_t rows = 0;
    std::uint64_t number = 0;
    while (rows < static_cast<std::uint64_t>(total)) {
      const std::uint64_t more = 1 + random.Below(static_cast<std::uint64_t>(total) - rows);
      const std::uint64_t next = rows + std::min<std::uint64_t>(more, item_rows);
      REQUIRE(trajectory.AppendTo(writer, rows, next).ok());
      rows = next;
      REQUIRE(writer.rows() == rows);
      for (std::uint64_t items = random.Below(3); items > 0; --items) {
        std::vector<ColumnRange> ranges;
        for (std::size_t column = 0; column < trajectory.size(); ++column) {
          if (!ranges.empty() && random.Below(4) == 0) continue;
          const std::uint64_t first =
              writer.oldest_row() + random.Below(rows - writer.oldest_row());
          ranges.push_back({column, first, first + 1 + random.Below(rows - first)});
        }
        const proto::Unroll rest = RestOf(++number);
        expected.push_back(trajectory.Whole(rest, ranges));
        REQUIRE(writer.AddItem(ItemAround(rest), rest, ranges).ok());
      }
      if (random.Below(10) == 0) writer.Flush();
      read_all();
    }
    writer.Flush();
    read_all();
    REQUIRE(expected.empty());
  }
}

TEST_CASE("rows that sequences share are stored once, and n-step transitions share nearly all") {
  runtime::Random random(1);
  const Trajectory trajectory(400, random);
  struct Pattern {
    std::uint64_t rows;
    std::uint64_t period;
  };
  // Sequences end to end, overlapping by half, and transitions of three steps.
  for (const Pattern& pattern : {Pattern{20, 20}, Pattern{20, 10}, Pattern{4, 1}}) {
    ChunkEncoder plain(0);
    ChunkWriter writer({.chunk_rows = 10, .item_rows = pattern.rows}, plain);
    std::set<std::shared_ptr<const proto::Chunk>> chunks;
    std::size_t items = 0;
    for (std::uint64_t row = 0; row < 400; ++row) {
      REQUIRE(trajectory.AppendTo(writer, row, row + 1).ok());
      if (row + 1 < pattern.rows || (row + 1 - pattern.rows) % pattern.period != 0) continue;
      const auto ranges = AllColumns(trajectory, row + 1 - pattern.rows, row + 1);
      REQUIRE(writer.AddItem(ItemAround(RestOf(row)), RestOf(row), ranges).ok());
      for (const ChunkedItem& item : writer.TakeReady()) {
        ++items;
        chunks.insert(item.chunks.begin(), item.chunks.end());
      }
    }
    REQUIRE(items >= 19);
    // 40 chunks of rows, and the layout.
    REQUIRE(chunks.size() == 41);
    REQUIRE(5 * ChunkBytes(chunks) < 6 * plain.plain_bytes_total());
  }
}

// Returns what a shard holds of a trajectory's unrolls, an item: 17 rows of 240 bytes that do not
// compress, which begin at every eighth row.
std::size_t ShardBytesOfAnItem(bool in_chunks) {
  constexpr std::uint64_t kItems = 500;
  const auto shard = *Shard::Create({.tables = {{.max_size = kItems}}, .contents = {}});
  runtime::Random random(6);
  runtime::Tensor rows(runtime::DType::kFloat32, {8 * kItems + 9, 60});
  for (std::byte& byte : rows.mutable_bytes()) byte = static_cast<std::byte>(random.Below(256));
  ChunkEncoder encoder(1);
  ChunkWriter writer({.item_rows = 17}, encoder);
  const auto insert = [&shard](proto::Item item) {
    auto stored = FromProto(item, std::size_t{1} << 20);
    REQUIRE(stored.ok());
    REQUIRE(shard->Insert("unrolls", *stored).ok());
  };
  const auto insert_ready = [&] {
    for (const ChunkedItem& item : writer.TakeReady()) {
      for (const auto& chunk : item.chunks) {
        REQUIRE(shard->Put(*FromProto(proto::Chunk(*chunk), std::size_t{1} << 20)).ok());
      }
      insert(item.item);
    }
  };
  for (std::uint64_t i = 0; i < kItems; ++i) {
    const std::uint64_t first = 8 * i;
    const std::uint64_t end = first + 17;
    const runtime::Shape shape = {
        static_cast<std::int64_t>(end - (in_chunks ? writer.rows() : first)), 60};
    const ColumnRows column{"observation/state",
                            {rows.dtype(), shape,
                             rows.bytes().subspan(240 * (in_chunks ? writer.rows() : first),
                                                  240 * static_cast<std::size_t>(shape[0]))}};
    const proto::Unroll rest = RestOf(i);
    if (in_chunks) {
      REQUIRE(writer.Append({&column, 1}).ok());
      const ColumnRange range{.column = 0, .first = first, .last = end};
      REQUIRE(writer.AddItem(ItemAround(rest), rest, {&range, 1}).ok());
      insert_ready();
    } else {
      proto::Unroll whole = rest;
      whole.add_step_columns()->set_name(std::string(column.name));
      transport::ToWire(column.values, *whole.mutable_step_columns(1)->mutable_tensor());
      proto::Item item = ItemAround(rest);
      item.set_payload(whole.SerializeAsString());
      insert(std::move(item));
    }
  }
  writer.Flush();
  insert_ready();
  const ShardStats stats = shard->stats();
  REQUIRE(stats.tables[0].size == kItems);
  REQUIRE(stats.unused_content_bytes == 0);
  return (stats.tables[0].bytes + stats.content_bytes) / kItems;
}

TEST_CASE("unrolls of 4 KB that overlap by half cost a shard a third less in chunks") {
  const std::size_t whole = ShardBytesOfAnItem(false);
  const std::size_t in_chunks = ShardBytesOfAnItem(true);
  INFO(whole << " and " << in_chunks << " bytes an item");
  REQUIRE(whole > 17 * 240);
  REQUIRE(3 * in_chunks < 2 * whole);
}

TEST_CASE("an item waits for the chunk of its last row, and the items after it wait for it") {
  runtime::Random random(2);
  const Trajectory trajectory(20, random);
  ChunkEncoder encoder(1);
  ChunkWriter writer({.chunk_rows = 4, .item_rows = 8}, encoder);
  REQUIRE(trajectory.AppendTo(writer, 0, 6).ok());
  REQUIRE(writer.AddItem(ItemAround(RestOf(1)), RestOf(1), AllColumns(trajectory, 0, 4)).ok());
  REQUIRE(writer.TakeReady().size() == 1);
  REQUIRE(writer.AddItem(ItemAround(RestOf(2)), RestOf(2), AllColumns(trajectory, 1, 6)).ok());
  REQUIRE(writer.AddItem(ItemAround(RestOf(3)), RestOf(3), AllColumns(trajectory, 0, 3)).ok());
  REQUIRE(writer.TakeReady().empty());
  REQUIRE(trajectory.AppendTo(writer, 6, 8).ok());
  const auto ready = writer.TakeReady();
  REQUIRE(ready.size() == 2);
  REQUIRE(ready[0].item.id().environment_id() == 2);
  // The layout, and two chunks of four rows.
  REQUIRE(ready[0].chunks.size() == 3);
  REQUIRE(ready[1].chunks.size() == 2);
  REQUIRE(ready[1].chunks[1] == ready[0].chunks[1]);
}

TEST_CASE("the length of chunks follows the size of rows and items") {
  const auto rows_in_chunk = [](std::int64_t width, std::size_t item_rows) {
    ChunkEncoder encoder(0);
    ChunkWriter writer({.item_rows = item_rows}, encoder);
    const runtime::Tensor row(runtime::DType::kUInt8, {1, width});
    const ColumnRows column{"observation", row};
    std::uint64_t rows = 0;
    for (; writer.TakeReady().empty(); ++rows) {
      REQUIRE(rows < 5000);
      REQUIRE(writer.Append({&column, 1}).ok());
      if (rows > 0) continue;
      const ColumnRange all{.column = 0, .first = 0, .last = 1};
      REQUIRE(writer.AddItem(ItemAround(RestOf(1)), RestOf(1), {&all, 1}).ok());
    }
    return rows;
  };
  REQUIRE(rows_in_chunk(64, 4) == 32);
  REQUIRE(rows_in_chunk(240, 17) == 9);
  REQUIRE(rows_in_chunk(30000, 100) == 13);
  REQUIRE(rows_in_chunk(30000, 5) == 1);
  REQUIRE(rows_in_chunk(0, 5) == 2048);
}

TEST_CASE("a writer refuses rows that do not match and ranges that it does not have") {
  runtime::Random random(3);
  const Trajectory trajectory(20, random);
  ChunkEncoder encoder(1);
  ChunkWriter writer({.chunk_rows = 4, .item_rows = 5}, encoder);
  const auto refuses = [&](const ColumnRange& range) {
    return absl::IsInvalidArgument(writer.AddItem(ItemAround(RestOf(1)), RestOf(1), {&range, 1}));
  };
  REQUIRE(refuses({0, 0, 1}));
  REQUIRE(absl::IsInvalidArgument(writer.Append({})));
  REQUIRE(trajectory.AppendTo(writer, 0, 12).ok());
  REQUIRE(writer.oldest_row() == 7);
  REQUIRE(refuses({0, 6, 8}));
  REQUIRE(refuses({0, 8, 8}));
  REQUIRE(refuses({0, 8, 13}));
  REQUIRE(refuses({trajectory.size(), 8, 9}));
  REQUIRE(absl::IsInvalidArgument(
      writer.AddItem(ItemAround(RestOf(1)), RestOf(1), std::span<const ColumnRange>())));

  const runtime::Tensor one(runtime::DType::kFloat32, {1, 3});
  const runtime::Tensor two(runtime::DType::kFloat32, {2, 3});
  const runtime::Tensor scalar(runtime::DType::kFloat32, {});
  const auto append = [&](std::vector<ColumnRows> columns) {
    ChunkWriter fresh({}, encoder);
    return fresh.Append(columns);
  };
  REQUIRE(append({{"a", one}, {"b", one}}).ok());
  REQUIRE(absl::IsInvalidArgument(append({{"a", one}, {"b", two}})));
  REQUIRE(absl::IsInvalidArgument(append({{"a", scalar}})));
  ChunkWriter fresh({}, encoder);
  const auto again = [&](std::vector<ColumnRows> columns) { return fresh.Append(columns); };
  REQUIRE(again({{"a", one}}).ok());
  REQUIRE(again({{"a", two}}).ok());
  REQUIRE(absl::IsInvalidArgument(again({{"b", one}})));
  REQUIRE(absl::IsInvalidArgument(again({{"a", one}, {"b", one}})));
  REQUIRE(fresh.rows() == 3);
}

}  // namespace
}  // namespace shoal::replay::client
