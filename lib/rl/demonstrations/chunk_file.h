// SPDX-License-Identifier: Apache-2.0
// A file of chunks of bytes, each compressed and with a checksum of its own. Pure functions.
//
// All numbers are little endian. 32 bytes of head: "SHOALDEM", the version (4 bytes, 1), the number
// of chunks (4 bytes), and the content key (16 bytes) of those 16. Then each chunk: its packed and
// its plain size (4 bytes each), the content key of those 8 and of the packed bytes, and the packed
// bytes, one zstd frame. Nothing follows the last chunk. So every byte is under a checksum, and a
// reader can say where the damage is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::demonstrations {

// Plain bytes of one chunk, and of all together, at most.
inline constexpr std::size_t kMaximumChunkBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaximumFileBytes = std::size_t{2} << 30;

struct Chunk {
  // In the file.
  std::uint64_t offset = 0;
  std::string bytes;
};

// RESOURCE_EXHAUSTED past the limits above.
absl::StatusOr<std::string> PackChunks(std::span<const std::string> chunks);

// DATA_LOSS saying at which offset `file` is damaged; FAILED_PRECONDITION for a version that this
// program does not read; INVALID_ARGUMENT for what is no such file.
absl::StatusOr<std::vector<Chunk>> UnpackChunks(std::string_view file);

}  // namespace shoal::demonstrations
