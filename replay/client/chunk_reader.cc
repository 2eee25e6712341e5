// SPDX-License-Identifier: Apache-2.0
#include "replay/client/chunk_reader.h"

#include <algorithm>
#include <utility>

#include "platform/transport/wire_tensor.h"

namespace shoal::replay::client {
namespace {

// An entry with its place in the map and in the list.
constexpr std::size_t kBookkeepingBytes = 384;
constexpr int kMaxSlices = 1 << 16;

absl::Status OutOfRange(std::string_view what, std::size_t first, std::size_t rows,
                        std::size_t there) {
  return runtime::InvalidArgument(std::string(what) + ": " + std::to_string(rows) + " rows from " +
                                  std::to_string(first) + " on, of " + std::to_string(there));
}

}  // namespace

absl::Status ChunkReader::Add(proto::Chunk&& chunk) {
  SHOAL_ASSIGN_OR_RETURN(const Key key, Key::FromBytes(std::string_view(chunk.key())));
  if (content::KeyOf(chunk.data()) != key) {
    return runtime::InvalidArgument("chunk " + key.ToHex() + " does not match its data");
  }
  std::unique_ptr<Entry>& entry = entries_[key];
  if (entry) return absl::OkStatus();
  entry = std::make_unique<Entry>();
  entry->data = std::move(*chunk.mutable_data());
  entry->place = recent_.insert(recent_.begin(), key);
  Count(*entry);
  return absl::OkStatus();
}

absl::Status ChunkReader::Restore(std::span<const std::string* const> keys, proto::Unroll& unroll) {
  if (!unroll.has_chunked()) return absl::OkStatus();
  if (keys.empty()) return runtime::InvalidArgument("an item names no chunks");
  const proto::ChunkedColumns chunked = std::move(*unroll.mutable_chunked());
  unroll.clear_chunked();
  SHOAL_ASSIGN_OR_RETURN(Entry * entry, Find(*keys[0]));
  SHOAL_ASSIGN_OR_RETURN(const ChunkLayout* layout, LayoutOf(*entry));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Piece> pieces, PiecesOf(keys, chunked, *layout));
  return AddColumns(*layout, pieces, chunked, unroll);
}

absl::StatusOr<ChunkReader::Entry*> ChunkReader::Find(std::string_view bytes) {
  SHOAL_ASSIGN_OR_RETURN(const Key key, Key::FromBytes(bytes));
  const auto found = entries_.find(key);
  if (found == entries_.end()) return runtime::NotFound("chunk " + key.ToHex());
  Entry& entry = *found->second;
  if (!entry.leaving) recent_.splice(recent_.begin(), recent_, entry.place);
  return &entry;
}

absl::StatusOr<const ChunkLayout*> ChunkReader::LayoutOf(Entry& entry) {
  if (!entry.layout) {
    SHOAL_ASSIGN_OR_RETURN(entry.layout, DecodeLayout(entry.data));
    Count(entry);
  }
  return &*entry.layout;
}

absl::StatusOr<const ChunkRows*> ChunkReader::RowsOf(Entry& entry, const Key& layout_key,
                                                     const ChunkLayout& layout) {
  if (!entry.rows || entry.rows_layout != layout_key) {
    entry.rows.reset();
    SHOAL_ASSIGN_OR_RETURN(entry.rows,
                           decoder_.Decode(entry.data, layout, options_.max_unroll_bytes));
    entry.rows_layout = layout_key;
    Count(entry);
  }
  return &*entry.rows;
}

void ChunkReader::Count(Entry& entry) {
  std::size_t bytes = kBookkeepingBytes + entry.data.size();
  if (entry.rows) bytes += entry.rows->values.size();
  if (entry.layout) bytes += entry.layout->size() * sizeof(ChunkColumn);
  bytes_ += bytes - entry.bytes;
  if (!entry.leaving) recent_bytes_ += bytes - entry.bytes;
  entry.bytes = bytes;
}

absl::StatusOr<std::vector<ChunkReader::Piece>> ChunkReader::PiecesOf(
    std::span<const std::string* const> keys, const proto::ChunkedColumns& chunked,
    const ChunkLayout& layout) {
  if (chunked.slices_size() > kMaxSlices) {
    return runtime::InvalidArgument("an item has " + std::to_string(chunked.slices_size()) +
                                    " slices of chunks, not up to " + std::to_string(kMaxSlices));
  }
  SHOAL_ASSIGN_OR_RETURN(const Key layout_key, Key::FromBytes(std::string_view(*keys[0])));
  std::vector<Piece> pieces;
  std::size_t unpacked = 0;
  for (const proto::ChunkSlice& slice : chunked.slices()) {
    if (slice.chunk() == 0 || slice.chunk() >= keys.size()) {
      return OutOfRange("slice: chunks", slice.chunk(), 1, keys.size());
    }
    SHOAL_ASSIGN_OR_RETURN(Entry * entry, Find(*keys[slice.chunk()]));
    SHOAL_ASSIGN_OR_RETURN(const ChunkRows* rows, RowsOf(*entry, layout_key, layout));
    if (std::size_t{slice.first_row()} + slice.rows() > rows->rows) {
      return OutOfRange("slice", slice.first_row(), slice.rows(), rows->rows);
    }
    unpacked += rows->values.size();
    if (unpacked > 4 * options_.max_unroll_bytes) {
      return runtime::InvalidArgument("the chunks of an item unpack to more than " +
                                      std::to_string(4 * options_.max_unroll_bytes) + " bytes");
    }
    pieces.push_back({rows, slice.first_row(), slice.rows()});
  }
  return pieces;
}

absl::Status ChunkReader::AddColumns(const ChunkLayout& layout, const std::vector<Piece>& pieces,
                                     const proto::ChunkedColumns& chunked,
                                     proto::Unroll& unroll) const {
  const int count = chunked.columns_size();
  if (count > static_cast<int>(layout.size()) || chunked.first_rows_size() != count ||
      chunked.row_counts_size() != count) {
    return runtime::InvalidArgument("an item names " + std::to_string(count) +
                                    " columns of chunks that have " +
                                    std::to_string(layout.size()) + ", or not all their rows");
  }
  std::size_t there = 0;
  for (const Piece& piece : pieces) there += piece.rows;
  std::size_t total = 0;
  for (int i = 0; i < count; ++i) {
    const std::size_t index = chunked.columns(i);
    const std::size_t first = chunked.first_rows(i);
    const std::size_t rows = chunked.row_counts(i);
    if (index >= layout.size()) return OutOfRange("column", index, 1, layout.size());
    if (first + rows > there) return OutOfRange(layout[index].name, first, rows, there);
    total += rows * layout[index].row_bytes;
    if (total > options_.max_unroll_bytes) {
      return runtime::InvalidArgument("an unroll in chunks has more than " +
                                      std::to_string(options_.max_unroll_bytes) + " bytes");
    }
  }
  std::vector<std::size_t> offsets;
  std::size_t offset = 0;
  for (const ChunkColumn& column : layout) {
    offsets.push_back(offset);
    offset += column.row_bytes;
  }
  for (int i = 0; i < count; ++i) {
    const ChunkColumn& column = layout[chunked.columns(i)];
    std::size_t skip = chunked.first_rows(i);
    std::size_t left = chunked.row_counts(i);
    proto::NamedTensor& out = *unroll.add_step_columns();
    out.set_name(column.name);
    out.mutable_tensor()->set_dtype(transport::ToWire(column.dtype));
    out.mutable_tensor()->add_shape(static_cast<std::int64_t>(left));
    out.mutable_tensor()->mutable_shape()->Add(column.shape.begin(), column.shape.end());
    std::string& data = *out.mutable_tensor()->mutable_data();
    data.reserve(left * column.row_bytes);
    for (const Piece& piece : pieces) {
      const std::size_t skipped = std::min(skip, piece.rows);
      const std::size_t rows = std::min(left, piece.rows - skipped);
      // A column begins after the columns before it, of all rows of its chunk.
      data.append(piece.chunk->values,
                  offsets[chunked.columns(i)] * piece.chunk->rows +
                      (piece.first + skipped) * column.row_bytes,
                  rows * column.row_bytes);
      skip -= skipped;
      left -= rows;
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> ChunkReader::Leave(std::size_t max_bytes, std::uint64_t named) {
  std::vector<std::string> keys;
  while (recent_bytes_ > max_bytes && recent_.size() > 1) {
    const Key key = recent_.back();
    recent_.pop_back();
    Entry& entry = *entries_.at(key);
    entry.leaving = true;
    recent_bytes_ -= entry.bytes;
    keys.emplace_back(key.AsBytes());
    leaving_.emplace_back(named + keys.size(), key);
  }
  return keys;
}

void ChunkReader::Heard(std::uint64_t named) {
  while (!leaving_.empty() && leaving_.front().first <= named) {
    const auto found = entries_.find(leaving_.front().second);
    bytes_ -= found->second->bytes;
    entries_.erase(found);
    leaving_.pop_front();
  }
}

void ChunkReader::Clear() {
  entries_.clear();
  recent_.clear();
  leaving_.clear();
  bytes_ = 0;
  recent_bytes_ = 0;
}

}  // namespace shoal::replay::client
