// SPDX-License-Identifier: Apache-2.0
// A chunk writer takes the rows of one trajectory, cuts them into chunks, and makes items of ranges
// of rows that may overlap. Each row is stored in one chunk, however many items use it.
//
// A row is a set of columns, the same for all rows of a writer. An item takes from each column the
// rows that it wants, so that an item may have the observations of rows 5 to 8, but the actions of
// rows 5 to 7 only. Any pattern of items can be made: n-step transitions are ranges of n + 1 rows
// that begin at every row; overlapping sequences begin every few rows; sequences with burn-in
// overlap by the rows that are burnt in.
//
// An item waits in the writer until the chunk of its last row is full, or until Flush. So short
// chunks let items go sooner and make samplers read fewer rows that their item does not use, and
// long chunks compress better and cost the shard less bookkeeping. With `chunk_rows` 0 the length
// follows the rows: an eighth of the longest item, but at least 2 KiB.
//
// Example, with n = 1:
//
//   ChunkWriter writer({.item_rows = 2}, encoder);
//   writer.Append(columns_of_row_0);
//   writer.Append(columns_of_row_1);
//   writer.AddItem(item, unroll, {{.column = 0, .first = 0, .last = 2},    // observations
//                                 {.column = 1, .first = 0, .last = 1}});  // actions
//   writer.Flush();
//   for (ChunkedItem& ready : writer.TakeReady()) inserter.TryInsert(std::move(ready));
//
// Not thread-safe. The writer holds the rows of the open chunk and the chunks that items may still
// use: those of the last `item_rows` rows, and those of items that wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "proto/replay.pb.h"
#include "proto/unroll.pb.h"
#include "replay/client/chunk_codec.h"
#include "replay/client/chunked_item.h"

namespace shoal::replay::client {

struct ChunkWriterOptions {
  // The number of rows of a chunk. 0 lets it follow the size of rows and items.
  std::size_t chunk_rows = 0;
  // The most rows of an item. An item begins at most so many rows before the next one that is
  // appended. At least 1.
  std::size_t item_rows = 1;
};

// Rows of one column, [rows, ...].
struct ColumnRows {
  std::string_view name;
  runtime::TensorView values;
};

// The rows [first, last) of a column. Columns are numbered as they were appended, rows from 0.
struct ColumnRange {
  std::size_t column = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

class ChunkWriter {
 public:
  // `encoder` must outlive the writer.
  ChunkWriter(const ChunkWriterOptions& options, ChunkEncoder& encoder)
      : options_(options), encoder_(encoder) {}

  // Appends one or more rows. Returns INVALID_ARGUMENT, and appends nothing, if there is no column,
  // columns differ in their number of rows or a value has none, or if names, dtypes and shapes are
  // not those of the first call.
  absl::Status Append(std::span<const ColumnRows> columns);

  // Makes an item of `ranges`, which become its unroll's columns in this order. `unroll` is what
  // the item's payload holds besides them. Returns INVALID_ARGUMENT, and makes none, if a range is
  // empty, names an unknown column, or has rows that were not appended or are no longer kept.
  absl::Status AddItem(proto::Item item, proto::Unroll unroll, std::span<const ColumnRange> ranges);

  // Ends the open chunk, so that no item waits any more.
  void Flush();

  // Returns the items that are ready, in order.
  std::vector<ChunkedItem> TakeReady();

  // The number of rows appended so far.
  std::uint64_t rows() const { return rows_; }
  // The first row that a new item may use.
  std::uint64_t oldest_row() const;

 private:
  struct Sealed {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::shared_ptr<const proto::Chunk> chunk;
  };
  struct Waiting {
    proto::Item item;
    proto::Unroll unroll;
    std::vector<ColumnRange> ranges;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };

  absl::Status Check(std::span<const ColumnRows> columns) const;
  void Begin(std::span<const ColumnRows> columns);
  // Ends the open chunk if it has rows.
  void Cut();
  void FinishWaiting();
  ChunkedItem Finish(Waiting& waiting) const;
  void DropUnneeded();
  std::uint64_t open_first() const { return rows_ - open_rows_; }

  const ChunkWriterOptions options_;
  ChunkEncoder& encoder_;
  ChunkLayout layout_;
  std::shared_ptr<const proto::Chunk> layout_chunk_;
  // The length of chunks, once the layout is known.
  std::size_t chunk_rows_ = 0;
  std::uint64_t rows_ = 0;
  // The rows of the open chunk by column.
  std::vector<std::string> open_;
  std::size_t open_rows_ = 0;
  std::deque<Sealed> sealed_;
  std::deque<Waiting> waiting_;
  std::vector<ChunkedItem> ready_;
};

}  // namespace shoal::replay::client
