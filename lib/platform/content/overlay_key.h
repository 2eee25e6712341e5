// SPDX-License-Identifier: Apache-2.0
// The key of an overlay, which removes elements from a list of keys and appends others
// (proto/content.proto, Overlay).
#pragma once

#include <cstdint>
#include <span>

#include "platform/content/content_key.h"

namespace shoal::content {

// Returns the key of these bytes: the list's key, then the removed indices (four bytes each, little
// endian), then the appended keys.
ContentKey OverlayKey(const ContentKey& base, std::span<const std::uint32_t> removed,
                      std::span<const ContentKey> appended);

}  // namespace shoal::content
