// SPDX-License-Identifier: Apache-2.0
#include "platform/content/overlay_key.h"

#include <string>

namespace shoal::content {

ContentKey OverlayKey(const ContentKey& base, std::span<const std::uint32_t> removed,
                      std::span<const ContentKey> appended) {
  std::string bytes(base.AsBytes());
  bytes.append(reinterpret_cast<const char*>(removed.data()), removed.size_bytes());
  for (const ContentKey& key : appended) bytes += key.AsBytes();
  return KeyOf(bytes);
}

}  // namespace shoal::content
