// SPDX-License-Identifier: Apache-2.0
#include "replay/client/chunk_reader.h"

#include <zstd.h>

#include <catch2/catch.hpp>
#include <functional>

#include "tests/replay/client/trajectory.h"

namespace shoal::replay::client {
namespace {

std::shared_ptr<const proto::Chunk> ChunkOf(std::string data) {
  auto chunk = std::make_shared<proto::Chunk>();
  chunk->set_key(std::string(content::KeyOf(data).AsBytes()));
  chunk->set_data(std::move(data));
  return chunk;
}

std::string Zstd(const std::string& plain) {
  std::string frame(ZSTD_compressBound(plain.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), plain.data(), plain.size(), 1));
  return frame;
}

// A good item of eight rows in two chunks, and the parts that a test may spoil.
struct Parts {
  Parts() {
    runtime::Random random(1);
    const Trajectory trajectory(8, random);
    ChunkEncoder encoder(1);
    ChunkWriter writer({.chunk_rows = 4, .item_rows = 8}, encoder);
    REQUIRE(trajectory.AppendTo(writer, 0, 8).ok());
    const auto ranges = AllColumns(trajectory, 1, 8);
    REQUIRE(writer.AddItem(ItemAround(RestOf(1)), RestOf(1), ranges).ok());
    item = writer.TakeReady().at(0);
    REQUIRE(unroll.ParseFromString(item.item.payload()));
    REQUIRE(layout.ParseFromString(item.chunks[0]->data()));
    REQUIRE(rows.ParseFromString(item.chunks[1]->data()));
  }

  // Puts the parts together again and reads them.
  absl::Status Status(const ChunkReaderOptions& options = {}) {
    item.chunks[0] = ChunkOf(layout.SerializeAsString());
    item.chunks[1] = ChunkOf(rows.SerializeAsString());
    for (int i = 0; i < 2; ++i) {
      item.item.set_chunk_keys(i, item.chunks[static_cast<std::size_t>(i)]->key());
    }
    item.item.set_payload(unroll.SerializeAsString());
    ChunkReader reader(options);
    return Read(reader, item).status();
  }

  ChunkedItem item;
  proto::Unroll unroll;
  proto::ChunkLayout layout;
  proto::ChunkRows rows;
};

TEST_CASE("what a peer may send instead of good chunks is refused, each for its reason") {
  REQUIRE(Parts().Status().ok());
  using Spoil = std::function<void(Parts&)>;
  const std::vector<Spoil> spoils = {
      [](Parts& parts) { parts.rows.mutable_zstd()->resize(parts.rows.zstd().size() / 2); },
      [](Parts& parts) { parts.rows.mutable_zstd()->clear(); },
      [](Parts& parts) { parts.rows.mutable_zstd()->append("more"); },
      [](Parts& parts) { parts.rows.set_zstd("no frame at all"); },
      [](Parts& parts) { parts.rows.set_plain("too few"); },
      [](Parts& parts) { parts.rows.clear_values(); },
      [](Parts& parts) { parts.rows.set_rows(0); },
      [](Parts& parts) { parts.rows.set_rows(5); },
      [](Parts& parts) { parts.rows.set_rows(0xFFFFFFFFU); },
      // A frame that is larger than its rows, and one that would fill the memory.
      [](Parts& parts) { parts.rows.set_zstd(Zstd(std::string(1 << 20, '\0'))); },
      [](Parts& parts) {
        parts.rows.set_zstd(Zstd(std::string(std::size_t{200} << 20, '\0')));
        parts.rows.set_rows(1 << 21);
      },
      [](Parts& parts) { parts.layout.clear_columns(); },
      [](Parts& parts) { parts.layout.mutable_columns(0)->clear_name(); },
      [](Parts& parts) { parts.layout.mutable_columns(0)->set_name("column/1"); },
      [](Parts& parts) { parts.layout.mutable_columns(0)->clear_dtype(); },
      [](Parts& parts) { parts.layout.mutable_columns(0)->set_shape(0, -1); },
      [](Parts& parts) { parts.layout.mutable_columns(0)->set_shape(0, std::int64_t{1} << 60); },
      [](Parts& parts) { parts.layout.mutable_columns(0)->set_shape(0, std::int64_t{1} << 29); },
      [](Parts& parts) { parts.layout.mutable_columns(0)->set_shape(0, 4); },
      [](Parts& parts) { parts.layout.mutable_columns()->RemoveLast(); },
      [](Parts& parts) {
        for (int i = 0; i < 2000; ++i) {
          *parts.layout.add_columns() = parts.layout.columns(0);
          parts.layout.mutable_columns(parts.layout.columns_size() - 1)
              ->set_name(std::to_string(i));
        }
      },
      [](Parts& parts) { parts.unroll.mutable_chunked()->mutable_slices(0)->set_chunk(0); },
      [](Parts& parts) { parts.unroll.mutable_chunked()->mutable_slices(0)->set_chunk(3); },
      [](Parts& parts) { parts.unroll.mutable_chunked()->mutable_slices(0)->set_rows(9); },
      [](Parts& parts) {
        parts.unroll.mutable_chunked()->mutable_slices(0)->set_first_row(0xFFFFFFFFU);
      },
      [](Parts& parts) { parts.unroll.mutable_chunked()->clear_slices(); },
      [](Parts& parts) {
        const proto::ChunkSlice slice = parts.unroll.chunked().slices(0);
        for (int i = 0; i < 1 << 17; ++i) *parts.unroll.mutable_chunked()->add_slices() = slice;
      },
      [](Parts& parts) { parts.unroll.mutable_chunked()->set_columns(0, 99); },
      [](Parts& parts) { parts.unroll.mutable_chunked()->set_first_rows(0, 4); },
      [](Parts& parts) { parts.unroll.mutable_chunked()->set_row_counts(0, 0xFFFFFFFFU); },
      [](Parts& parts) { parts.unroll.mutable_chunked()->add_row_counts(1); },
      [](Parts& parts) { parts.unroll.mutable_chunked()->clear_first_rows(); },
      [](Parts& parts) {
        for (int i = 0; i < 99; ++i) {
          parts.unroll.mutable_chunked()->add_columns(0);
          parts.unroll.mutable_chunked()->add_first_rows(0);
          parts.unroll.mutable_chunked()->add_row_counts(1);
        }
      },
  };
  for (std::size_t i = 0; i < spoils.size(); ++i) {
    INFO("spoilt in way " << i);
    Parts parts;
    spoils[i](parts);
    const absl::Status status = parts.Status();
    REQUIRE(absl::IsInvalidArgument(status));
    REQUIRE_FALSE(runtime::Message(status).empty());
  }
}

TEST_CASE(
    "chunks that unpack to more than an unroll may have are refused before they are unpacked") {
  Parts parts;
  REQUIRE(absl::IsInvalidArgument(parts.Status({.max_unroll_bytes = 100})));
  // One chunk fits, but an item that names it again and again does not.
  const proto::ChunkSlice slice = parts.unroll.chunked().slices(0);
  for (int i = 0; i < 100; ++i) *parts.unroll.mutable_chunked()->add_slices() = slice;
  REQUIRE(parts.Status().ok());
  REQUIRE(absl::IsInvalidArgument(parts.Status({.max_unroll_bytes = 2000})));
}

TEST_CASE(
    "a chunk whose key is not that of its data is refused, and one that is missing is named") {
  ChunkReader reader({});
  proto::Chunk chunk;
  chunk.set_key(std::string(16, 'k'));
  chunk.set_data("data");
  REQUIRE(absl::IsInvalidArgument(reader.Add(proto::Chunk(chunk))));
  chunk.set_key("short");
  REQUIRE(absl::IsInvalidArgument(reader.Add(proto::Chunk(chunk))));
  REQUIRE(reader.size() == 0);
  Parts parts;
  const std::string missing = parts.item.chunks.back()->key();
  parts.item.chunks.pop_back();
  const absl::Status status = Read(reader, parts.item).status();
  REQUIRE(absl::IsNotFound(status));
  REQUIRE(runtime::Message(status).find(
              content::ContentKey::FromBytes(std::string_view(missing))->ToHex()) !=
          std::string::npos);
  parts.item.item.clear_chunk_keys();
  parts.item.chunks.clear();
  REQUIRE(absl::IsInvalidArgument(Read(reader, parts.item).status()));
}

TEST_CASE("a reader stays within its bytes, and keeps a chunk until its shard has heard of it") {
  runtime::Random random(4);
  const Trajectory trajectory(400, random);
  ChunkEncoder encoder(1);
  ChunkWriter writer({.chunk_rows = 4, .item_rows = 8}, encoder);
  constexpr std::size_t kMaxBytes = 20000;
  ChunkReader reader({});
  std::uint64_t named = 0;
  std::vector<ChunkedItem> items;
  for (std::uint64_t row = 0; row < 400; row += 4) {
    REQUIRE(trajectory.AppendTo(writer, row, row + 4).ok());
    if (row < 4) continue;
    const auto ranges = AllColumns(trajectory, row - 4, row + 4);
    REQUIRE(writer.AddItem(ItemAround(RestOf(row)), RestOf(row), ranges).ok());
    items.push_back(writer.TakeReady().at(0));
    REQUIRE(Read(reader, items.back()).ok());
    const std::size_t before = reader.size();
    const std::vector<std::string> keys = reader.Leave(kMaxBytes, named);
    named += keys.size();
    REQUIRE(reader.size() == before);
    // The item that came last is still readable, since nothing has left yet.
    ChunkedItem again = items.back();
    again.chunks.clear();
    REQUIRE(Read(reader, again).ok());
    reader.Heard(named - keys.size());
    REQUIRE(reader.size() == before);
    reader.Heard(named);
    REQUIRE(reader.size() == before - keys.size());
    REQUIRE(reader.bytes() <= kMaxBytes);
  }
  REQUIRE(named > 50);
  // What left can come again, and the layout, which every item uses, never left.
  REQUIRE(Read(reader, items.front()).ok());
  ChunkedItem without_layout = items[1];
  without_layout.chunks.erase(without_layout.chunks.begin());
  REQUIRE(Read(reader, without_layout).ok());
  reader.Clear();
  REQUIRE(reader.size() == 0);
  REQUIRE(reader.bytes() == 0);
}

TEST_CASE("the same bytes may be rows of two layouts") {
  const runtime::Tensor zeros(runtime::DType::kInt32, {4, 2});
  ChunkEncoder encoder(1);
  ChunkReader reader({});
  for (const std::string name : {"one", "other", "one"}) {
    ChunkWriter writer({.chunk_rows = 4, .item_rows = 4}, encoder);
    const ColumnRows column{name, zeros};
    REQUIRE(writer.Append({&column, 1}).ok());
    const ColumnRange range{.column = 0, .first = 0, .last = 4};
    REQUIRE(writer.AddItem(ItemAround(RestOf(1)), RestOf(1), {&range, 1}).ok());
    const auto unroll = Read(reader, writer.TakeReady().at(0));
    REQUIRE(unroll.ok());
    REQUIRE(unroll->step_columns(1).name() == name);
  }
  REQUIRE(reader.size() == 3);
}

}  // namespace
}  // namespace shoal::replay::client
