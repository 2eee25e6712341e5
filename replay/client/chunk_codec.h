// SPDX-License-Identifier: Apache-2.0
// Packs rows of columns into chunks, and unpacks them, in the form of proto/chunk.proto.
//
// With a compression level above 0 an integer or boolean column is stored as the difference of each
// row to the one before, since counters, flags and keys change little from step to step, and all
// columns become one zstd frame. Rows that this does not make smaller are stored plainly. Unpacking
// returns exactly the bytes that were packed.
//
// An encoder or decoder is used by one thread at a time and keeps zstd's working memory, about a
// megabyte, so share one among writers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "proto/chunk.pb.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace shoal::replay::client {

// One column of a chunk; `shape` is that of one row.
struct ChunkColumn {
  std::string name;
  runtime::DType dtype = runtime::DType::kFloat32;
  runtime::Shape shape;
  // The bytes of one row.
  std::size_t row_bytes = 0;

  friend bool operator==(const ChunkColumn&, const ChunkColumn&) = default;
};

using ChunkLayout = std::vector<ChunkColumn>;

// Returns the bytes of a row of all columns together.
std::size_t RowBytes(const ChunkLayout& layout);

// The layout as a chunk.
std::shared_ptr<const proto::Chunk> EncodeLayout(const ChunkLayout& layout);
// Returns INVALID_ARGUMENT if `data` is no layout, if it has no column or more than 1024, if a name
// is empty or comes twice, or if a row would have more than 2^30 bytes.
absl::StatusOr<ChunkLayout> DecodeLayout(std::string_view data);

class ChunkEncoder {
 public:
  static constexpr int kMaxLevel = 19;

  // `level` is zstd's, from 1 (fastest) to 19; 0 compresses nothing. REQUIRES: in this range.
  explicit ChunkEncoder(int level);
  ~ChunkEncoder();

  // Packs `values`, which holds the columns one after another, [rows, ...] each.
  // REQUIRES: `rows` is above 0, and values.size() is rows * RowBytes(layout).
  std::shared_ptr<const proto::Chunk> Encode(const ChunkLayout& layout, std::size_t rows,
                                             std::string values);

  // The bytes that came in, and the bytes of the chunks that they became.
  std::uint64_t plain_bytes_total() const { return plain_bytes_total_; }
  std::uint64_t chunk_bytes_total() const { return chunk_bytes_total_; }

 private:
  const int level_;
  const std::unique_ptr<ZSTD_CCtx_s, std::size_t (*)(ZSTD_CCtx_s*)> context_;
  std::uint64_t plain_bytes_total_ = 0;
  std::uint64_t chunk_bytes_total_ = 0;
};

// Rows as an encoder got them.
struct ChunkRows {
  std::size_t rows = 0;
  std::string values;
};

class ChunkDecoder {
 public:
  ChunkDecoder();
  ~ChunkDecoder();

  // Returns INVALID_ARGUMENT if `data` holds no rows, is damaged, does not match `layout`, or would
  // unpack to more than `max_bytes`, which is found out before memory is taken for it.
  absl::StatusOr<ChunkRows> Decode(std::string_view data, const ChunkLayout& layout,
                                   std::size_t max_bytes);

 private:
  const std::unique_ptr<ZSTD_DCtx_s, std::size_t (*)(ZSTD_DCtx_s*)> context_;
};

}  // namespace shoal::replay::client
