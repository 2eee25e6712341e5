// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/protocol.h"

#include <string>

namespace shoal::transport {

absl::Status CheckProtocolVersion(std::uint32_t peer) {
  if (peer == kProtocolVersion) return absl::OkStatus();
  return runtime::FailedPrecondition("the peer speaks protocol version " + std::to_string(peer) +
                                     ", this process speaks " + std::to_string(kProtocolVersion));
}

}  // namespace shoal::transport
