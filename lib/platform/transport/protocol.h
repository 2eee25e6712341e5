// SPDX-License-Identifier: Apache-2.0
// The version of the wire protocol that both ends of every stream must share.
//
// The first message in each direction of a stream carries it (proto/README.md).
#pragma once

#include <cstdint>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::transport {

inline constexpr std::uint32_t kProtocolVersion = 6;

// Returns FAILED_PRECONDITION when `version` is not this process's: "<peer> speaks protocol 7, this
// <self> speaks 2: ...". `peer` is the name by which a person would look for it ("inference server
// at 10.0.0.1:5000", "actor-0").
absl::Status CheckProtocolVersion(std::uint32_t version, std::string_view peer,
                                  std::string_view self);

}  // namespace shoal::transport
