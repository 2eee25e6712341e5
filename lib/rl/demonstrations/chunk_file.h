// SPDX-License-Identifier: Apache-2.0
// A file of byte chunks, each compressed and with its own checksum. The functions are pure.
//
// All numbers are little endian. The head has 32 bytes: "SHOALDEM", the version (4 bytes, 1), the
// number of chunks (4 bytes), and the content key (16 bytes) of these 16 bytes. Each chunk has its
// packed and its plain size (4 bytes each), the content key of these 8 bytes and the packed bytes,
// and the packed bytes, which are one zstd frame. Nothing follows the last chunk. So a checksum
// covers every byte, and a reader can locate damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::demonstrations {

// Limits on the plain bytes of one chunk, and of all chunks together.
inline constexpr std::size_t kMaximumChunkBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaximumFileBytes = std::size_t{2} << 30;

struct Chunk {
  // The offset of the chunk in the file.
  std::uint64_t offset = 0;
  std::string bytes;
};

// Returns RESOURCE_EXHAUSTED beyond the limits above.
absl::StatusOr<std::string> PackChunks(std::span<const std::string> chunks);

// Returns DATA_LOSS naming the offset at which `file` is damaged, FAILED_PRECONDITION for a version
// that this program cannot read, and INVALID_ARGUMENT for bytes that are not such a file.
absl::StatusOr<std::vector<Chunk>> UnpackChunks(std::string_view file);

}  // namespace shoal::demonstrations
