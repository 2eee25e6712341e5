// SPDX-License-Identifier: Apache-2.0
// The key of what is taken from a list and added to it (proto/content.proto, Overlay).
#pragma once

#include <cstdint>
#include <span>

#include "platform/content/content_key.h"

namespace shoal::content {

// The key of the bytes of the list's key, followed by the removed indices (four bytes each, little
// endian) and by the appended keys.
ContentKey OverlayKey(const ContentKey& base, std::span<const std::uint32_t> removed,
                      std::span<const ContentKey> appended);

}  // namespace shoal::content
