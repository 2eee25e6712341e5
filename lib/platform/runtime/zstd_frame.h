// SPDX-License-Identifier: Apache-2.0
// Bytes as one zstd frame that states how many they are (RFC 8878). Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::runtime {

// Returns the bytes as a frame that takes no more memory than it needs. INTERNAL, with zstd's
// reason, if there is no memory for it.
absl::StatusOr<std::string> PackFrame(std::string_view bytes, int level);

// Returns how many bytes the frame says that it holds; nothing for what is no frame or does not
// say.
std::optional<std::uint64_t> StatedBytes(std::string_view frame);

// Returns what the frame holds. INVALID_ARGUMENT if it states another number than `bytes`, which is
// found out before memory is taken for them, or if it is damaged.
absl::StatusOr<std::string> UnpackFrame(std::string_view frame, std::uint64_t bytes);

}  // namespace shoal::runtime
