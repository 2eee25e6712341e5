// SPDX-License-Identifier: Apache-2.0
#include "replay/client/chunk_writer.h"

#include <algorithm>
#include <utility>

namespace shoal::replay::client {
namespace {

// Chunks of a length that follows the rows: the parts of the longest item, and the least bytes. The
// shard keeps about 400 bytes of its own for each chunk.
constexpr std::size_t kPartsOfItem = 8;
constexpr std::size_t kLeastBytes = 2048;
constexpr std::size_t kMostRows = 4096;

std::size_t LengthFor(const ChunkWriterOptions& options, std::size_t row_bytes) {
  if (options.chunk_rows > 0) return options.chunk_rows;
  const auto ratio_up = [](std::size_t a, std::size_t b) { return (a + b - 1) / b; };
  const std::size_t by_item = ratio_up(options.item_rows, kPartsOfItem);
  const std::size_t by_bytes = ratio_up(kLeastBytes, std::max<std::size_t>(1, row_bytes));
  return std::clamp<std::size_t>(std::max(by_item, by_bytes), 1, kMostRows);
}

bool Matches(const ChunkColumn& column, const ColumnRows& rows) {
  const auto shape = rows.values.shape.subspan(1);
  return column.name == rows.name && column.dtype == rows.values.dtype &&
         std::equal(shape.begin(), shape.end(), column.shape.begin(), column.shape.end());
}

}  // namespace

absl::Status ChunkWriter::Check(std::span<const ColumnRows> columns) const {
  if (columns.empty()) return runtime::InvalidArgument("a row has no columns");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string name(columns[i].name);
    const auto shape = columns[i].values.shape;
    if (shape.empty() || shape[0] < 1 || shape[0] != columns[0].values.shape[0]) {
      return runtime::InvalidArgument(name + ": not as many rows as the other columns, or none");
    }
    if (!layout_.empty() &&
        (columns.size() != layout_.size() || !Matches(layout_[i], columns[i]))) {
      return runtime::InvalidArgument(name + ": the columns of a writer must stay as they began");
    }
  }
  return absl::OkStatus();
}

void ChunkWriter::Begin(std::span<const ColumnRows> columns) {
  for (const ColumnRows& column : columns) {
    const auto rows = static_cast<std::size_t>(column.values.shape[0]);
    layout_.push_back({.name = std::string(column.name),
                       .dtype = column.values.dtype,
                       .shape = {column.values.shape.begin() + 1, column.values.shape.end()},
                       .row_bytes = column.values.bytes.size() / rows});
  }
  layout_chunk_ = EncodeLayout(layout_);
  chunk_rows_ = LengthFor(options_, RowBytes(layout_));
  open_.resize(layout_.size());
}

absl::Status ChunkWriter::Append(std::span<const ColumnRows> columns) {
  SHOAL_RETURN_IF_ERROR(Check(columns));
  if (layout_.empty()) Begin(columns);
  const auto count = static_cast<std::size_t>(columns[0].values.shape[0]);
  for (std::size_t at = 0; at < count;) {
    const std::size_t rows = std::min(count - at, chunk_rows_ - open_rows_);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto bytes =
          columns[i].values.bytes.subspan(at * layout_[i].row_bytes, rows * layout_[i].row_bytes);
      open_[i].append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    at += rows;
    open_rows_ += rows;
    rows_ += rows;
    if (open_rows_ == chunk_rows_) Cut();
  }
  FinishWaiting();
  return absl::OkStatus();
}

std::uint64_t ChunkWriter::oldest_row() const {
  return rows_ - std::min<std::uint64_t>(rows_, options_.item_rows);
}

absl::Status ChunkWriter::AddItem(proto::Item item, proto::Unroll unroll,
                                  std::span<const ColumnRange> ranges) {
  if (ranges.empty()) return runtime::InvalidArgument("an item has no columns in chunks");
  Waiting waiting;
  waiting.ranges.assign(ranges.begin(), ranges.end());
  waiting.first = rows_;
  for (const ColumnRange& range : ranges) {
    if (range.column >= layout_.size() || range.first >= range.last || range.last > rows_ ||
        range.first < oldest_row()) {
      return runtime::InvalidArgument(
          "rows " + std::to_string(range.first) + " to " + std::to_string(range.last) +
          " of column " + std::to_string(range.column) + " are not among the rows " +
          std::to_string(oldest_row()) + " to " + std::to_string(rows_) + " of " +
          std::to_string(layout_.size()) + " columns");
    }
    waiting.first = std::min(waiting.first, range.first);
    waiting.last = std::max(waiting.last, range.last);
  }
  waiting.item = std::move(item);
  waiting.unroll = std::move(unroll);
  waiting_.push_back(std::move(waiting));
  FinishWaiting();
  return absl::OkStatus();
}

void ChunkWriter::Flush() {
  Cut();
  FinishWaiting();
}

std::vector<ChunkedItem> ChunkWriter::TakeReady() { return std::exchange(ready_, {}); }

void ChunkWriter::Cut() {
  if (open_rows_ == 0) return;
  std::string values;
  values.reserve(open_rows_ * RowBytes(layout_));
  for (std::string& column : open_) {
    values += column;
    column.clear();
  }
  sealed_.push_back({.first = open_first(),
                     .last = rows_,
                     .chunk = encoder_.Encode(layout_, open_rows_, std::move(values))});
  open_rows_ = 0;
}

void ChunkWriter::FinishWaiting() {
  while (!waiting_.empty() && waiting_.front().last <= open_first()) {
    ready_.push_back(Finish(waiting_.front()));
    waiting_.pop_front();
  }
  DropUnneeded();
}

ChunkedItem ChunkWriter::Finish(Waiting& waiting) const {
  ChunkedItem out{.item = std::move(waiting.item), .chunks = {layout_chunk_}};
  proto::ChunkedColumns& chunked = *waiting.unroll.mutable_chunked();
  for (const Sealed& sealed : sealed_) {
    const std::uint64_t first = std::max(sealed.first, waiting.first);
    const std::uint64_t last = std::min(sealed.last, waiting.last);
    if (first >= last) continue;
    proto::ChunkSlice& slice = *chunked.add_slices();
    slice.set_chunk(static_cast<std::uint32_t>(out.chunks.size()));
    slice.set_first_row(static_cast<std::uint32_t>(first - sealed.first));
    slice.set_rows(static_cast<std::uint32_t>(last - first));
    out.chunks.push_back(sealed.chunk);
  }
  for (const ColumnRange& range : waiting.ranges) {
    chunked.add_columns(static_cast<std::uint32_t>(range.column));
    chunked.add_first_rows(static_cast<std::uint32_t>(range.first - waiting.first));
    chunked.add_row_counts(static_cast<std::uint32_t>(range.last - range.first));
  }
  for (const auto& chunk : out.chunks) out.item.add_chunk_keys(chunk->key());
  waiting.unroll.SerializeToString(out.item.mutable_payload());
  return out;
}

void ChunkWriter::DropUnneeded() {
  std::uint64_t needed = oldest_row();
  for (const Waiting& waiting : waiting_) needed = std::min(needed, waiting.first);
  while (!sealed_.empty() && sealed_.front().last <= needed) sealed_.pop_front();
}

}  // namespace shoal::replay::client
