// SPDX-License-Identifier: Apache-2.0
// A chunk reader keeps the chunks that came over one sampling stream, and puts the unrolls of items
// together from them, with the same bytes as if they had never been taken apart.
//
// It keeps all chunks until Leave is told how many bytes of them and of unpacked rows may stay.
// Beyond that the least recently used ones are to leave: Leave names them, for the shard to be told
// that it must send them again, and each stays until the shard has heard of it (Heard). By then
// every item that counts on the chunk has come, so no item is lost, and what stays too long is
// bounded by what the shard sends in the meantime.
//
// Whatever a peer sends ends in INVALID_ARGUMENT at worst: every index is checked, and memory is
// taken only after sizes have been found to be within `max_unroll_bytes`. Not thread-safe.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/content/content_key.h"
#include "platform/runtime/status.h"
#include "proto/chunk.pb.h"
#include "proto/unroll.pb.h"
#include "replay/client/chunk_codec.h"

namespace shoal::replay::client {

struct ChunkReaderOptions {
  // The most bytes of the columns of an unroll. The chunks of one may unpack to four times as many,
  // since they hold rows of its neighbours.
  std::size_t max_unroll_bytes = std::size_t{64} << 20;
};

class ChunkReader {
 public:
  explicit ChunkReader(const ChunkReaderOptions& options) : options_(options) {}

  // Keeps the chunk. Returns INVALID_ARGUMENT if its key is not whole or not the hash of its data.
  absl::Status Add(proto::Chunk&& chunk);

  // Fills in the columns that `unroll.chunked` describes and clears it. `keys` are the chunk keys
  // of the item. Without `chunked` it does nothing. Returns NOT_FOUND if a chunk is not here, and
  // INVALID_ARGUMENT if a chunk is damaged, too large or of another layout, or if a slice or column
  // lies outside of its rows. The unroll is then unspecified.
  absl::Status Restore(std::span<const std::string* const> keys, proto::Unroll& unroll);

  // Returns the keys of the chunks that are to leave so that at most `max_bytes` stay, or the chunk
  // used last, to be told to the shard in this order. `named` is how many keys it has been told
  // before on this stream.
  std::vector<std::string> Leave(std::size_t max_bytes, std::uint64_t named);
  // The shard has heard of the first `named` keys. Drops the chunks among them.
  void Heard(std::uint64_t named);

  // Forgets everything, for a new stream.
  void Clear();

  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  using Key = content::ContentKey;
  struct Entry {
    std::string data;
    // What `data` was unpacked to: a layout, or rows of the layout with this key.
    std::optional<ChunkLayout> layout;
    std::optional<ChunkRows> rows;
    Key rows_layout;
    // Its place in `recent_`, unless it is leaving.
    std::list<Key>::iterator place;
    bool leaving = false;
    std::size_t bytes = 0;
  };
  struct Piece {
    const ChunkRows* chunk = nullptr;
    std::size_t first = 0;
    std::size_t rows = 0;
  };

  absl::StatusOr<Entry*> Find(std::string_view key);
  absl::StatusOr<const ChunkLayout*> LayoutOf(Entry& entry);
  absl::StatusOr<const ChunkRows*> RowsOf(Entry& entry, const Key& layout_key,
                                          const ChunkLayout& layout);
  void Count(Entry& entry);
  absl::StatusOr<std::vector<Piece>> PiecesOf(std::span<const std::string* const> keys,
                                              const proto::ChunkedColumns& chunked,
                                              const ChunkLayout& layout);
  absl::Status AddColumns(const ChunkLayout& layout, const std::vector<Piece>& pieces,
                          const proto::ChunkedColumns& chunked, proto::Unroll& unroll) const;

  const ChunkReaderOptions options_;
  ChunkDecoder decoder_;
  absl::flat_hash_map<Key, std::unique_ptr<Entry>, content::ContentKeyHash> entries_;
  // Most recently used first.
  std::list<Key> recent_;
  // The bytes of the entries, and of those that are not leaving.
  std::size_t bytes_ = 0;
  std::size_t recent_bytes_ = 0;
  // The position of each chunk that leaves among the keys that the shard is told.
  std::deque<std::pair<std::uint64_t, Key>> leaving_;
};

}  // namespace shoal::replay::client
