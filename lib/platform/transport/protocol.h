// SPDX-License-Identifier: Apache-2.0
// The version of the wire protocol that both ends of every stream must share.
#pragma once

#include <cstdint>

#include "platform/runtime/status.h"

namespace shoal::transport {

inline constexpr std::uint32_t kProtocolVersion = 1;

// FAILED_PRECONDITION naming both versions when the peer's is another.
absl::Status CheckProtocolVersion(std::uint32_t peer);

}  // namespace shoal::transport
