// SPDX-License-Identifier: Apache-2.0
#include "replay/client/chunk_codec.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "platform/content/content_key.h"
#include "platform/runtime/random.h"

namespace shoal::replay::client {
namespace {

constexpr std::size_t kRoomy = std::size_t{1} << 30;

ChunkLayout Counters() {
  return {{.name = "count", .dtype = runtime::DType::kInt64, .shape = {4}, .row_bytes = 32}};
}

// Four counters that grow by one each row.
std::string CounterRows(std::size_t rows) {
  std::string values(rows * 32, '\0');
  for (std::size_t i = 0; i < rows * 4; ++i) {
    const std::uint64_t value = 1000003 * (i % 4) + i / 4;
    std::memcpy(values.data() + 8 * i, &value, 8);
  }
  return values;
}

TEST_CASE("a layout comes back as it was, and its key is the hash of its bytes") {
  const ChunkLayout layout = {
      {.name = "a", .dtype = runtime::DType::kBool, .shape = {}, .row_bytes = 1},
      {.name = "b", .dtype = runtime::DType::kFloat64, .shape = {2, 3}, .row_bytes = 48}};
  const auto chunk = EncodeLayout(layout);
  REQUIRE(chunk->key() == content::KeyOf(chunk->data()).AsBytes());
  const auto decoded = DecodeLayout(chunk->data());
  REQUIRE(decoded.ok());
  REQUIRE(*decoded == layout);
  REQUIRE(RowBytes(layout) == 49);
  REQUIRE(absl::IsInvalidArgument(DecodeLayout("\xff\xff").status()));
}

TEST_CASE("differences make counters small, and nothing is compressed at level 0") {
  ChunkEncoder packing(3);
  ChunkEncoder plain(0);
  const std::string values = CounterRows(256);
  const auto packed = packing.Encode(Counters(), 256, values);
  const auto as_is = plain.Encode(Counters(), 256, values);
  REQUIRE(packed->data().size() < values.size() / 50);
  REQUIRE(as_is->data().size() > values.size());
  REQUIRE(as_is->data().size() < values.size() + 16);
  REQUIRE(packing.plain_bytes_total() == values.size());
  REQUIRE(packing.chunk_bytes_total() == packed->data().size());
  ChunkDecoder decoder;
  for (const auto& chunk : {packed, as_is}) {
    const auto rows = decoder.Decode(chunk->data(), Counters(), kRoomy);
    REQUIRE(rows.ok());
    REQUIRE(rows->rows == 256);
    REQUIRE(rows->values == values);
  }
}

TEST_CASE("rows that do not become smaller are stored plainly") {
  runtime::Random random(1);
  std::string values(32, '\0');
  for (char& byte : values) byte = static_cast<char>(random.Below(256));
  ChunkEncoder encoder(ChunkEncoder::kMaxLevel);
  const auto chunk = encoder.Encode(Counters(), 1, values);
  REQUIRE(chunk->data().size() < values.size() + 8);
  const auto rows = ChunkDecoder().Decode(chunk->data(), Counters(), kRoomy);
  REQUIRE(rows.ok());
  REQUIRE(rows->values == values);
}

TEST_CASE("a damaged chunk is refused or decoded to as many bytes as it says, never more") {
  runtime::Random random(2);
  ChunkEncoder encoder(1);
  ChunkDecoder decoder;
  const std::string good = encoder.Encode(Counters(), 64, CounterRows(64))->data();
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (std::uint64_t flips = 1 + random.Below(3); flips > 0; --flips) {
      bad[random.Below(bad.size())] = static_cast<char>(random.Below(256));
    }
    if (random.Below(4) == 0) bad.resize(random.Below(bad.size()));
    const auto rows = decoder.Decode(bad, Counters(), 1 << 16);
    if (rows.ok()) {
      REQUIRE(rows->values.size() == rows->rows * 32);
    } else {
      REQUIRE(absl::IsInvalidArgument(rows.status()));
    }
  }
}

}  // namespace
}  // namespace shoal::replay::client
