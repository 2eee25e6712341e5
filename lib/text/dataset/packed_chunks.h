// SPDX-License-Identifier: Apache-2.0
// The chunks of a dataset in the form of chunks.bin.
//
// Numbers are little endian and aligned to their size, so that the mapped file is used directly:
//
//   offset  what
//   0       "shoalds1"
//   8       u64 N chunks, u64 T tokens, u64 S spans
//   32      u64 x N: where each chunk's tokens end; u64 x N: where its spans end
//           u32 x N: its capture, by number in the manifest; zeros to a multiple of 8
//           i32 x T: tokens; zeros to a multiple of 8
//           S x {u8 kind, 3 zeros, u32 begin, u32 end}: spans (span.h)
//
// Immutable, thread-safe. It is a view; the bytes must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "text/dataset/span.h"

namespace shoal::dataset {

struct Chunk {
  std::vector<std::int32_t> tokens = {};
  std::vector<Span> spans = {};
  std::uint32_t capture = 0;
};

class PackedChunks {
 public:
  // The manifest's limits on chunks.
  struct Limits {
    std::uint64_t chunk_tokens = 0;
    std::int32_t vocabulary_size = 0;
    std::uint32_t captures = 0;
  };

  // Checks all of `bytes` in one pass. DATA_LOSS names the byte at which they are not chunks within
  // `limits`. REQUIRES: bytes.data() is a multiple of 8.
  static absl::StatusOr<PackedChunks> Parse(std::string_view bytes, const Limits& limits);

  std::size_t size() const { return token_ends_.size(); }
  std::uint64_t token_count() const { return tokens_.size(); }
  std::uint64_t span_count() const { return spans_.size(); }

  // REQUIRES: chunk < size().
  std::span<const std::int32_t> tokens(std::size_t chunk) const {
    return Part(tokens_, token_ends_, chunk);
  }
  std::span<const Span> spans(std::size_t chunk) const { return Part(spans_, span_ends_, chunk); }
  std::uint32_t capture(std::size_t chunk) const { return captures_[chunk]; }

 private:
  class Layout;

  template <typename T>
  static std::span<const T> Part(std::span<const T> all, std::span<const std::uint64_t> ends,
                                 std::size_t chunk) {
    const std::uint64_t begin = chunk == 0 ? 0 : ends[chunk - 1];
    return all.subspan(begin, ends[chunk] - begin);
  }

  std::span<const std::uint64_t> token_ends_;
  std::span<const std::uint64_t> span_ends_;
  std::span<const std::uint32_t> captures_;
  std::span<const std::int32_t> tokens_;
  std::span<const Span> spans_;
};

// Returns the bytes of `chunks`, in their order.
std::string PackChunks(std::span<const Chunk> chunks);

}  // namespace shoal::dataset
