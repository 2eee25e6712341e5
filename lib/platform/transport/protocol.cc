// SPDX-License-Identifier: Apache-2.0
#include "platform/transport/protocol.h"

#include <string>

namespace shoal::transport {

absl::Status CheckProtocolVersion(std::uint32_t version, std::string_view peer,
                                  std::string_view self) {
  if (version == kProtocolVersion) return absl::OkStatus();
  return runtime::FailedPrecondition(std::string(peer) + " speaks protocol " +
                                     std::to_string(version) + ", this " + std::string(self) +
                                     " speaks " + std::to_string(kProtocolVersion) +
                                     ": all processes of a cluster must be of one release");
}

}  // namespace shoal::transport
