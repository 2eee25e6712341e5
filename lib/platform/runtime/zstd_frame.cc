// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/zstd_frame.h"

#include <zstd.h>

namespace shoal::runtime {

absl::StatusOr<std::string> PackFrame(std::string_view bytes, int level) {
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size) != 0) return Internal(ZSTD_getErrorName(size));
  frame.resize(size);
  frame.shrink_to_fit();
  return frame;
}

std::optional<std::uint64_t> StatedBytes(std::string_view frame) {
  const unsigned long long stated = ZSTD_getFrameContentSize(frame.data(), frame.size());
  const bool is_stated = stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != ZSTD_CONTENTSIZE_ERROR;
  return is_stated ? std::optional<std::uint64_t>(stated) : std::nullopt;
}

absl::StatusOr<std::string> UnpackFrame(std::string_view frame, std::uint64_t bytes) {
  if (StatedBytes(frame) != bytes) {
    return InvalidArgument("a zstd frame of " + std::to_string(frame.size()) +
                           " bytes does not hold " + std::to_string(bytes) + " bytes");
  }
  std::string unpacked(bytes, '\0');
  const std::size_t size =
      ZSTD_decompress(unpacked.data(), unpacked.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0 || size != bytes) return InvalidArgument("a zstd frame is damaged");
  return unpacked;
}

}  // namespace shoal::runtime
